/** The storage of the webhook service in PostgreSQL. */
import type { Postgres } from "../../postgres/connection.ts";
import type { DeliveryQueue } from "../delivery-queue.ts";
import type { RegisterStorage } from "../register/rows.ts";
import type { SecretCipher } from "../secrets/encryption.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { createPostgresIntake } from "./intake/intake.ts";
import { createPostgresDeliveryLog } from "./log/delivery-log.ts";
import { createRecordPing } from "./log/ping.ts";
import { createPostgresRetention } from "./log/retention.ts";
import { createOwnership, type ShardOwnership } from "./ownership.ts";
import { finishStep } from "./queues/finishing-queues.ts";
import { createPostgresReplays } from "./queues/replays.ts";
import { restartStep } from "./queues/restarting-queues.ts";
import { createPostgresAliases } from "./register/aliases.ts";
import { createPostgresHealth } from "./register/health.ts";
import { createPostgresRegisterCommands } from "./register/register-commands.ts";
import { createPendingReads } from "./sending/pending.ts";
import { createRecord } from "./sending/record.ts";
import { createWebhookRows } from "./webhook-rows.ts";

export type PostgresStorageOptions = {
  /** Name of this worker: no other running process has it. */
  readonly worker: string;
  /** Id of this process. Default: a random one. */
  readonly session?: string;
  /** Duration of a lease; a call starts only if its timeout fits into the rest of it. */
  readonly leaseMs: number;
};

export type PostgresStorageDeps = {
  readonly postgres: Postgres;
  /** The nethash of the chain. */
  readonly network: string;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  /** Returns the sequence of the newest event of the node's log. Default: of the newest copied event. */
  readonly lastEvent?: () => Promise<number>;
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs?: () => number;
};

/** Opens the storage for a worker that owns no webhooks until `ownership.renew` is called. */
export function openPostgresStorage(
  options: PostgresStorageOptions,
  deps: PostgresStorageDeps,
): WebhookStorage {
  const { postgres, network, elapsedMs = () => performance.now() } = deps;
  const ownership = createOwnership(options, { postgres, elapsedMs });
  return {
    network,
    queue: createPostgresDeliveryQueue(deps, ownership),
    intake: createPostgresIntake({ postgres, ownership }),
    register: createRegisterStorage(deps),
  };
}

function createPostgresDeliveryQueue(
  { postgres, cipher }: PostgresStorageDeps,
  ownership: ShardOwnership,
): DeliveryQueue {
  const shards = () => [...ownership.held.keys()];
  return {
    ...createPendingReads({ postgres, ownership, cipher }),
    record: createRecord(postgres, ownership),
    recordPing: createRecordPing(postgres),
    async finishStep(atMs) {
      const step = await finishStep(postgres, shards(), atMs);
      return step.more ? step : restartStep(postgres, shards());
    },
    ownership,
    log: createPostgresDeliveryLog(postgres),
    replays: createPostgresReplays(postgres, ownership),
    retention: createPostgresRetention(postgres),
  };
}

/** @param deps `lastEvent` as for `PostgresStorageDeps` */
export function createRegisterStorage({
  postgres,
  cipher,
  lastEvent,
}: Pick<PostgresStorageDeps, "postgres" | "cipher" | "lastEvent">): RegisterStorage {
  const { query } = postgres;
  const lastCopied = async () => {
    const [row] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
    return Number(row?.last ?? 0);
  };
  const last = lastEvent ?? lastCopied;
  return {
    webhooks: createWebhookRows(postgres, cipher),
    aliases: createPostgresAliases(postgres),
    health: createPostgresHealth(postgres),
    commands: createPostgresRegisterCommands({ postgres, cipher, lastEvent: last }),
    lastEvent: last,
    async lastMatched() {
      const [row] = await query<{ last: string | null }>("SELECT min(matched) AS last FROM shards");
      return Number(row?.last ?? 0);
    },
  };
}

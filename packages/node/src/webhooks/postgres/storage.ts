/** The storage of the webhook service in PostgreSQL. */
import type { Postgres } from "../../postgres/connection.ts";
import { refusalOf } from "../hand-over/service-switch.ts";
import type { RequestDeps } from "../requests.ts";
import type { SecretCipher } from "../secrets.ts";
import { DeliveryLogRows } from "../storage/delivery-log.ts";
import { DeliveryQueue } from "../storage/delivery-queue.ts";
import { HealthRows } from "../storage/health.ts";
import { lockVersion } from "../storage/locks.ts";
import type { LockOwned } from "../storage/outcomes.ts";
import { recordPing } from "../storage/pings.ts";
import type { RegisterStorage } from "../storage/register-commands.ts";
import { ReplayRows } from "../storage/replays.ts";
import { shardOf } from "../storage/shards.ts";
import { WebhookRows } from "../storage/webhooks.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { lockOwner } from "./hand-over/owner.ts";
import { createPostgresIntake } from "./intake.ts";
import { createOwnership, type ShardOwnership } from "./ownership.ts";
import { lockOwnShards } from "./positions.ts";
import { createPostgresRegisterCommands } from "./register.ts";
import { createPostgresStore } from "./sql.ts";

type PostgresStorageOptions = {
  /** Name of this worker: no other running process has it. */
  readonly worker: string;
  /** Id of this process. Default: a random one. */
  readonly session?: string;
  /** Duration of a lease; a call starts only if its timeout fits into the rest of it. */
  readonly leaseMs: number;
};

type PostgresStorageDeps = {
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
    queue: new DeliveryQueue({
      ...{ store: createPostgresStore(postgres), cipher: deps.cipher, ownership },
      shards: () => [...ownership.held.keys()],
      lockOwned: createLockOwned(ownership),
    }),
    intake: createPostgresIntake({ postgres, ownership }),
    register: createRegisterStorage(deps),
  };
}

const createLockOwned = (ownership: ShardOwnership): LockOwned =>
  function* (sql, webhooks, changesRegister) {
    const [owned] = yield* sql.together([
      lockOwnShards(sql, ownership, [...new Set(webhooks.map(shardOf))]),
      lockVersion(sql, changesRegister),
    ]);
    return (webhook) => owned.has(shardOf(webhook));
  };

/** @param deps `lastEvent` as for `PostgresStorageDeps` */
function createRegisterStorage({
  postgres,
  cipher,
  lastEvent,
}: Pick<PostgresStorageDeps, "postgres" | "cipher" | "lastEvent">): RegisterStorage {
  const store = createPostgresStore(postgres);
  const { query } = postgres;
  const lastCopied = async () => {
    const [row] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
    return Number(row?.last ?? 0);
  };
  const last = lastEvent ?? lastCopied;
  return {
    webhooks: new WebhookRows(store, cipher),
    health: new HealthRows(store),
    commands: createPostgresRegisterCommands({ postgres, cipher, lastEvent: last }),
    lastEvent: last,
    async lastMatched() {
      const [row] = await query<{ last: string | null }>("SELECT min(matched) AS last FROM shards");
      return Number(row?.last ?? 0);
    },
  };
}

/**
 * Creates the storage of clients' requests, for processes that send nothing. Every change is refused with a `WebhookError` unless the
 * workers own the webhooks until its commit.
 */
export function createRequestStorage({
  postgres: unguarded,
  cipher,
  lastEvent,
}: Required<Pick<PostgresStorageDeps, "postgres" | "cipher" | "lastEvent">>): RequestDeps["storage"] {
  const postgres = guardWrites(unguarded);
  const store = createPostgresStore(postgres);
  return {
    register: createRegisterStorage({ postgres, cipher, lastEvent }),
    queue: {
      log: new DeliveryLogRows(store),
      replays: new ReplayRows(store),
      recordPing: (ping) => store.write((sql) => recordPing(sql, ping)),
    },
  };
}

/** A hand-over waits for the transactions that have locked the owner, and later ones are refused. */
const guardWrites = (postgres: Postgres): Postgres => ({
  ...postgres,
  transaction: (mode, work) =>
    postgres.transaction(mode, async (transaction) => {
      if (mode === "READ WRITE") {
        const owner = await lockOwner(transaction);
        if (owner.state !== "workers") throw refusalOf(owner);
      }
      return work(transaction);
    }),
});

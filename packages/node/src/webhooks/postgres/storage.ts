/** The storage of the webhook service in PostgreSQL. */
import type { Postgres } from "../../postgres/connection.ts";
import { PostgresError } from "../../postgres/postgres-error.ts";
import { refusalOf } from "../hand-over/service-switch.ts";
import type { RequestDeps } from "../requests.ts";
import type { SecretCipher } from "../secrets.ts";
import { DeliveryLogRows } from "../storage/delivery-log.ts";
import { CALL_TIMEOUT_MS, DeliveryQueue } from "../storage/delivery-queue.ts";
import { HealthRows } from "../storage/health.ts";
import { lockVersion } from "../storage/locks.ts";
import type { LockOwned } from "../storage/outcomes.ts";
import { recordPing } from "../storage/pings.ts";
import {
  type RegisterCommandDeps,
  RegisterCommands,
  type RegisterStorage,
} from "../storage/register-commands.ts";
import { ReplayRows } from "../storage/replays.ts";
import { shardOf } from "../storage/shards.ts";
import { runSteps } from "../storage/sql.ts";
import { WebhookRows } from "../storage/webhook-list.ts";
import type { WebhookStorage } from "../webhooks.ts";
import { lockOwner } from "./hand-over/owner.ts";
import { PostgresIntake } from "./intake.ts";
import { ShardOwnership } from "./ownership.ts";
import { lockOwnShards } from "./positions.ts";
import { checkCipher } from "./secrets.ts";
import { type Connection, PostgresStore, sqlOf } from "./sql.ts";

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
  readonly network: string;
  readonly cipher: SecretCipher;
  /** Returns the sequence of the newest event of the node's log. Default: of the newest copied event. */
  readonly lastEvent?: () => Promise<number>;
  readonly elapsedMs?: () => number;
};

/** Opens the storage for a worker that owns no webhooks until `ownership.renew` is called. */
export function openPostgresStorage(
  options: PostgresStorageOptions,
  deps: PostgresStorageDeps,
): WebhookStorage {
  const { postgres, network, elapsedMs = () => performance.now() } = deps;
  const ownership = new ShardOwnership(options, { postgres, elapsedMs });
  return {
    network,
    queue: new DeliveryQueue({
      store: new PostgresStore(postgres),
      cipher: deps.cipher,
      ownership,
      shards: () => [...ownership.held.keys()],
      lockOwned: createLockOwned(ownership),
    }),
    intake: new PostgresIntake(postgres, ownership),
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

function createRegisterStorage({
  postgres,
  cipher,
  lastEvent,
}: Pick<PostgresStorageDeps, "cipher" | "lastEvent"> & { readonly postgres: Connection }): RegisterStorage {
  const store = new PostgresStore(postgres);
  const { query } = postgres;
  const lastCopied = async () => {
    const [row] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
    return Number(row?.last ?? 0);
  };
  const last = lastEvent ?? lastCopied;
  return {
    webhooks: new WebhookRows(store, cipher),
    health: new HealthRows(store),
    commands: createRegisterCommands({ postgres, cipher, lastEvent: last }),
    lastEvent: last,
    async lastMatched() {
      const [row] = await query<{ last: string | null }>("SELECT min(matched) AS last FROM shards");
      return Number(row?.last ?? 0);
    },
  };
}

export function createRegisterCommands({
  postgres,
  cipher,
  lastEvent,
}: Required<Pick<PostgresStorageDeps, "cipher" | "lastEvent">> & {
  readonly postgres: Pick<Postgres, "transaction">;
}): RegisterCommands {
  const order = new CallOrder();
  const commit: RegisterCommandDeps["commit"] = (steps) =>
    order.run(() => postgres.transaction("READ WRITE", (transaction) => runSteps(steps(sqlOf(transaction)))));
  return new RegisterCommands({
    cipher,
    checkCipher: (sql) => checkCipher(sql, cipher),
    commit,
    async commitFrom(steps) {
      const after = await lastEvent();
      return commit((sql) => steps(sql, after));
    },
  });
}

/** Runs works one after the other, in the order of the calls: connections of a pool would race. */
export class CallOrder {
  #last: Promise<unknown> = Promise.resolve();

  /** @throws {PostgresError} if the work has waited longer than `CALL_TIMEOUT_MS`: a blocked database must not gather calls */
  run<T>(work: () => Promise<T>): Promise<T> {
    const calledMs = performance.now();
    const result = this.#last.then(() => {
      if (performance.now() - calledMs > CALL_TIMEOUT_MS) throw new PostgresError("POSTGRES_BUSY");
      return work();
    });
    this.#last = result.catch(() => {});
    return result;
  }
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
  const store = new PostgresStore(postgres);
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
const guardWrites = (postgres: Postgres): Connection => ({
  query: postgres.query,
  transaction: (mode, work) =>
    postgres.transaction(mode, async (transaction) => {
      if (mode === "READ WRITE") {
        const owner = await lockOwner(transaction);
        if (owner.state !== "workers") throw refusalOf(owner);
      }
      return work(transaction);
    }),
});

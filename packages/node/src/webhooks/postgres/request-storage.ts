/** The storage of clients' requests in PostgreSQL, for processes that send nothing. */
import type { Postgres } from "../../postgres/connection.ts";
import { refusalOf } from "../hand-over/service-switch.ts";
import type { RequestDeps } from "../requests.ts";
import type { SecretCipher } from "../secrets/encryption.ts";
import { lockOwner } from "./hand-over/owner.ts";
import { createPostgresDeliveryLog } from "./log/delivery-log.ts";
import { createRecordPing } from "./log/ping.ts";
import { createPostgresReplays } from "./queues/replays.ts";
import type { OwnedShards } from "./shards.ts";
import { createRegisterStorage } from "./storage.ts";

export type RequestStorageDeps = {
  readonly postgres: Postgres;
  readonly cipher: SecretCipher;
  /** Returns the sequence of the newest event of the node's log. */
  readonly lastEvent: () => Promise<number>;
};

const NO_SHARDS: OwnedShards = { all: () => [], epochOf: () => undefined };

/** Every change is refused with a `WebhookError` unless the workers own the webhooks until its commit. */
export function createRequestStorage({
  postgres: unguarded,
  cipher,
  lastEvent,
}: RequestStorageDeps): RequestDeps["storage"] {
  const postgres = guardWrites(unguarded);
  return {
    register: createRegisterStorage({ postgres, cipher, lastEvent }),
    queue: {
      log: createPostgresDeliveryLog(postgres),
      replays: createPostgresReplays(postgres, NO_SHARDS),
      recordPing: createRecordPing(postgres),
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

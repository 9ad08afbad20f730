/** The workers' side of a hand-over in PostgreSQL. */
import type { Logger } from "pino";
import { present } from "../../../platform/present.ts";
import type { Postgres, Query } from "../../../postgres/connection.ts";
import type { TakenWebhooks, WorkersSide } from "../../hand-over/ports.ts";
import { PLAIN_SECRETS, type SecretCipher } from "../../secrets.ts";
import { levelShards } from "./level.ts";
import { changeOwner, readOwner } from "./owner.ts";
import { dropAllRows, importWebhooks, MISSING_EVENTS, readWebhookLines, removeIncomplete } from "./rows.ts";

export type WorkersSideOptions = {
  /** The nethash of the chain. */
  readonly network: string;
  readonly maxContentBytes: number;
};

export type WorkersSideDeps = {
  readonly postgres: Postgres;
  /** Cipher of the secrets in the database. */
  readonly cipher: SecretCipher;
  readonly logger: Logger;
  readonly signal: AbortSignal;
};

/** Name among the workers. */
const WORKER = "hand-over";

type LogRow = { last: string; id: string | null; is_started: boolean };

export function createWorkersSide(options: WorkersSideOptions, deps: WorkersSideDeps): WorkersSide {
  const { postgres, cipher } = deps;
  const { query, transaction } = postgres;
  return {
    isEncrypted: cipher !== PLAIN_SECRETS,
    owner: () => readOwner(query),
    change: (change) =>
      transaction("READ WRITE", async (own) => {
        const owner = await changeOwner(own, change);
        if (owner.state === "workers") await endLease(own.query);
        return owner;
      }),
    async lastCopied() {
      const [row] = await query<LogRow>(
        "SELECT last_sequence AS last, last_id AS id, is_started FROM event_log",
      );
      const { last, id, is_started } = present(row, "the row of the copied log");
      return is_started ? { sequence: Number(last), id: id ?? undefined } : undefined;
    },
    async countMissing(matched) {
      const [row] = await query<{ missing: string }>(MISSING_EVENTS, [matched]);
      return Number(present(row).missing);
    },
    write: (lines, { transfer, onRows, onWritten }) =>
      transaction("READ WRITE", (own) =>
        importWebhooks(own, lines, { transfer, network: options.network, cipher, onRows, onWritten }),
      ),
    takeAll: (transfer, maxWaitMs) => takeAll({ transfer, maxWaitMs }, options, deps),
    drop: (change) =>
      transaction("READ WRITE", async (own) => {
        await changeOwner(own, change);
        await dropAllRows(own);
        await endLease(own.query);
      }),
  };
}

/** Ends the lease of a command that was killed: neither workers nor the next command need to wait for its end. */
const endLease = (query: Query): Promise<unknown> =>
  query("DELETE FROM delivery_workers WHERE name = $1", [WORKER]);

async function takeAll(
  wait: { readonly transfer: string; readonly maxWaitMs: number },
  { network, maxContentBytes }: WorkersSideOptions,
  { postgres, cipher, ...deps }: WorkersSideDeps,
): Promise<TakenWebhooks> {
  await endLease(postgres.query);
  const levelled = await levelShards(
    { ...wait, network, worker: WORKER, maxContentBytes },
    { postgres, ...deps },
  );
  const { matched, renew, release } = levelled;
  const isEncrypted = cipher !== PLAIN_SECRETS;
  return {
    async read(work) {
      await postgres.transaction("READ WRITE", removeIncomplete);
      return postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", (transaction) =>
        work(readWebhookLines(transaction, { matched, network, cipher, isEncrypted })),
      );
    },
    renew,
    release,
  };
}

/** Names of the events that the log of the node must record for the webhooks in PostgreSQL. */
import type { Postgres } from "../../../postgres/connection.ts";
import { refusalOf } from "../../hand-over/service-switch.ts";
import { runSteps } from "../../storage/sql.ts";
import { readEventNames } from "../../storage/webhooks.ts";
import { readsOf } from "../sql.ts";
import { lockOwner } from "./owner.ts";

type RemoteNamesDeps = {
  readonly postgres: Postgres;
  /** Replaces the names at the node that the mirror follows (`Gateway.replaceRemoteNames`). */
  readonly replaceRemoteNames: (names: readonly string[]) => Promise<{ readonly lastSequence: number }>;
};

/**
 * Creates a function that replaces the names by those of the register, and returns the sequence after which the log has all
 * events of these names. Calls of all processes are made one after the other: an earlier call would otherwise overwrite the
 * names of a later one. Calls in this process share the next one. Rejects with a `WebhookError` unless the workers own the
 * webhooks.
 */
export function createRemoteNames({ postgres, replaceRemoteNames }: RemoteNamesDeps): () => Promise<number> {
  const replace = (): Promise<number> =>
    postgres.transaction("READ WRITE", async (transaction) => {
      const owner = await lockOwner(transaction);
      // After a hand-over, the names of this database must not be recorded any longer.
      if (owner.state !== "workers") throw refusalOf(owner);
      // Until the end of the transaction. A node executes no call after its deadline, for which this one waits.
      await transaction.query("SELECT pg_advisory_xact_lock(hashtext('names of webhooks'))");
      const { lastSequence } = await replaceRemoteNames([
        ...(await runSteps(readEventNames(readsOf(transaction)))),
      ]);
      return lastSequence;
    });

  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<number> | undefined;
  return () => {
    next ??= running.then(() => {
      const replacing = replace();
      running = replacing.catch(() => {});
      next = undefined;
      return replacing;
    });
    return next;
  };
}

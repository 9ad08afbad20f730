/** Names of the events that the log of the node must record for the webhooks in PostgreSQL. */
import { subscribedNames } from "../../../events/catalogue.ts";
import type { Postgres, Query } from "../../../postgres/connection.ts";
import { refusalOf } from "../../hand-over/service-switch.ts";
import { lockOwner } from "./owner.ts";

type NamesRow = {
  given: { event: string | null; events: string }[] | null;
  has_webhooks: boolean;
  is_confirming: boolean;
};

const NAMES = `SELECT
  (SELECT json_agg(DISTINCT jsonb_build_object('event', event, 'events', events)) FROM webhooks
    WHERE enabled AND suspended IS NULL) AS given,
  EXISTS (SELECT FROM webhooks) AS has_webhooks,
  EXISTS (SELECT FROM webhooks WHERE enabled AND suspended IS NULL AND (confirmations > 0
    OR EXISTS (SELECT FROM unconfirmed_events WHERE webhook = webhooks.id))) AS is_confirming`;

export async function readEventNames(query: Query): Promise<string[]> {
  const [row] = await query<NamesRow>(NAMES);
  const given = (row?.given ?? []).flatMap(({ event, events }) => [event, ...JSON.parse(events)]);
  const names = new Set(subscribedNames(given.filter((name) => name !== null)).keys());
  // A target that received a fact, under any definition, must receive its retraction.
  if (row?.has_webhooks) names.add("block.reverted");
  // Confirmations are counted in applied blocks.
  if (row?.is_confirming) names.add("block.applied");
  return [...names];
}

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
      const { lastSequence } = await replaceRemoteNames(await readEventNames(transaction.query));
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

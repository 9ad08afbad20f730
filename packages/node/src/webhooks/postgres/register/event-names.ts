/** Names of the events that the log of the node must record for the webhooks in PostgreSQL. */
import { subscribedNames } from "../../../events/names.ts";
import type { Query } from "../../../postgres/connection.ts";

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

/** Figures of all webhooks, each by one read of an index. */
import type { Database } from "../../store/engine/database.ts";
import type { WebhookFigures } from "../figures.ts";
import { READER } from "../intake.ts";

/** Creates a function that returns the number of deliveries of each registered webhook, without pings. */
export function createFiredFigures(database: Database): () => Map<number, number> {
  const fired = database.prepare<{ webhook: number; last_sequence: number }>(
    "SELECT webhook, last_sequence FROM queues",
  );
  return () => new Map(fired.all().map(({ webhook, last_sequence }) => [webhook, last_sequence]));
}

export function createWebhookFigures(database: Database): () => WebhookFigures {
  const states = database.prepare<{ state: "active" | "disabled" | "suspended"; count: number }>(
    `SELECT CASE WHEN suspended IS NOT NULL THEN 'suspended' WHEN enabled = 1 THEN 'active' ELSE 'disabled' END AS state,
     count(*) AS count FROM webhooks GROUP BY 1`,
  );
  const lastOf = database.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = +?");
  const cursor = database.prepare<{ sequence: number }>("SELECT sequence FROM cursors WHERE reader = ?");
  const next = database.prepare<{ created_ms: number }>(
    "SELECT created_ms FROM events WHERE sequence > ? ORDER BY sequence LIMIT 1",
  );

  return () => {
    const counts = new Map(states.all().map(({ state, count }) => [state, count]));
    const logged = lastOf.get("events")?.seq ?? 0;
    const matched = cursor.get(READER)?.sequence ?? logged;
    const unmatchedSinceMs = next.get(matched)?.created_ms;
    return {
      active: counts.get("active") ?? 0,
      disabled: counts.get("disabled") ?? 0,
      suspended: counts.get("suspended") ?? 0,
      fired: lastOf.get("deliveries")?.seq ?? 0,
      unmatched: logged - matched,
      ...(unmatchedSinceMs !== undefined && { unmatchedSinceMs }),
    };
  };
}

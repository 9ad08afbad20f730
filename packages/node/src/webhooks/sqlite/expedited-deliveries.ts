/** Makes pending deliveries due at once: a single one, or a range of a lane at a time. */
import type { Database } from "../../store/engine/database.ts";
import type { DeliveryLogRows } from "../delivery-queue.ts";
import { conditionsOf } from "./delivery-log.ts";
import type { Sync } from "./sync.ts";

export type ExpeditedDeliveryStore = Pick<Sync<DeliveryLogRows>, "expediteMatching"> & {
  /** Makes a delivery due; returns `false` if it is not pending. Must be called in a transaction. */
  expedite(webhook: number, number: number, atMs: number): boolean;
};

/** Rows of each lane, by an index that the planner would not choose. */
const LANES = {
  first: "deliveries INDEXED BY deliveries_first WHERE next_attempt_ms IS NULL AND replay IS NULL",
  retry: "deliveries INDEXED BY deliveries_retry_oldest WHERE next_attempt_ms IS NOT NULL AND replay IS NULL",
  replay: "deliveries INDEXED BY deliveries_replay WHERE replay IS NOT NULL",
} as const;

type Lane = keyof typeof LANES;

export function createExpeditedDeliveryStore(database: Database): ExpeditedDeliveryStore {
  const isStrict = database.prepare("SELECT 1 FROM webhooks WHERE id = ? AND strict = 1");
  // Moves it to the retry lane: a due retry does not wait for other deliveries.
  const expediteOne = database.prepare(
    `UPDATE deliveries SET next_attempt_ms = ?, attempts = 0, replay = NULL
     WHERE webhook = ? AND number = ? AND state = 'pending'`,
  );
  const waits = database.prepare(
    "SELECT 1 FROM deliveries WHERE webhook = ? AND number = ? AND state = 'pending'",
  );
  // In strict order, at most one failed delivery is pending, unless more were sent again on demand.
  const expediteHead = (["retry", "replay"] as const).map((lane) =>
    database.prepare(
      `UPDATE deliveries SET next_attempt_ms = ? WHERE number IN
       (SELECT number FROM ${LANES[lane]} AND webhook = +? AND state = 'pending' AND next_attempt_ms > ? LIMIT 100)`,
    ),
  );

  const rowsOf = (lane: Lane, where: string) =>
    `SELECT number FROM ${LANES[lane]} AND webhook = +? AND state = 'pending' ${where}`;

  return {
    expedite(webhook, number, atMs) {
      if (!isStrict.get(webhook)) return expediteOne.run(atMs, webhook, number).changes > 0;
      if (!waits.get(webhook, number)) return false;
      // Keeps the order: earlier deliveries are sent first.
      for (const head of expediteHead) head.run(atMs, webhook, atMs);
      return true;
    },
    expediteMatching: (webhook, lane, filter, { after, limit }, atMs) =>
      database.transaction(() => {
        const last = database
          .prepare<{ last: number | null }>(
            `SELECT max(number) AS last FROM (${rowsOf(lane, "AND number > ? ORDER BY number LIMIT +?")})`,
          )
          .get(webhook, after, limit)?.last;
        if (typeof last !== "number") return { count: 0 };
        const { where, values } = conditionsOf(filter);
        const rows = rowsOf(lane, `AND number > ? AND number <= ? ${where}`);
        const parameters = [webhook, after, last, ...values];
        const counted = database.prepare<{ count: number }>(`SELECT count(*) AS count FROM (${rows})`);
        const count = counted.get(...parameters)?.count ?? 0;
        if (lane !== "first") {
          database
            .prepare(
              `UPDATE deliveries SET next_attempt_ms = ?, attempts = 0
               WHERE next_attempt_ms IS NOT NULL AND number IN (${rows})`,
            )
            .run(atMs, ...parameters);
        }
        return { count, last };
      }),
  };
}

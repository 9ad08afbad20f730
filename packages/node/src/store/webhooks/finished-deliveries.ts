/**
 * Queues that come to their end: what waits in them is given up, a range at a time, so that no other writer waits for
 * long. Until the last of it has gone, nothing of the queue is sent.
 */
import type { Database } from "../engine/database.ts";

/** How what waits ends: `cancelled` when nobody wants it any more, `failed` when it could be sent later. */
export type Ending = {
  readonly state: "failed" | "cancelled";
  readonly reason: string;
  /**
   * Also what takes back another delivery. It goes on waiting otherwise: the target that was told must hear that it is
   * not true any more.
   */
  readonly withReversals?: boolean;
};

export type EndingStore = {
  /** Ends what waits at present, and facts that are held; what is too much for one step is left to `step`. */
  begin(webhook: number, ending: Ending, atMs: number): void;
  /** The same for one of many webhooks: all of it is left to `step`. */
  announce(webhook: number, ending: Ending): void;
  /** Goes on with a queue that was not ended completely; answers its webhook when nothing is left of it. */
  step(atMs: number): { readonly webhook?: number; readonly more: boolean };
};

/** Rows changed at once: some milliseconds of the writer. */
const ROWS_AT_ONCE = 1_000;

type EndingRow = {
  webhook: number;
  up_to: number;
  held_up_to: number;
  state: Ending["state"];
  reason: string;
  with_reversals: number;
};

export function createEndingStore(database: Database): EndingStore {
  const insert = database.prepare(
    `INSERT INTO endings SELECT ?, (SELECT coalesce(max(number), 0) FROM deliveries),
       (SELECT coalesce(max(sequence), 0) FROM held WHERE webhook = ?), ?, ?, ?
     ON CONFLICT (webhook) DO UPDATE SET up_to = excluded.up_to, held_up_to = excluded.held_up_to,
       state = excluded.state, reason = excluded.reason, with_reversals = max(with_reversals, excluded.with_reversals)`,
  );
  const next = database.prepare<EndingRow>("SELECT * FROM endings ORDER BY webhook LIMIT 1");
  const find = database.prepare<EndingRow>("SELECT * FROM endings WHERE webhook = ?");
  const remove = database.prepare("DELETE FROM endings WHERE webhook = ?");
  // First attempts, retries and what is told again: each by its own index, which the planner would not take.
  const endSome = [
    ["deliveries_first", "next_attempt_ms IS NULL AND replay IS NULL"],
    ["deliveries_retry", "next_attempt_ms IS NOT NULL AND replay IS NULL"],
    ["deliveries_replay", "replay IS NOT NULL"],
  ].map(([index, queue]) =>
    database.prepare(
      `UPDATE deliveries SET state = ?, next_attempt_ms = NULL, reason = ?, finished_ms = ? WHERE number IN
       (SELECT number FROM deliveries INDEXED BY ${index} WHERE webhook = ? AND state = 'pending' AND ${queue}
        AND number <= ? AND (? OR reverts IS NULL) LIMIT ${ROWS_AT_ONCE})`,
    ),
  );
  const dropHeld = database.prepare(
    `DELETE FROM held WHERE webhook = ? AND sequence IN
     (SELECT sequence FROM held WHERE webhook = ? AND sequence <= ? LIMIT ${ROWS_AT_ONCE})`,
  );

  /** `false`: there is more to do. */
  function end(
    { webhook, up_to, held_up_to, state, reason, with_reversals }: EndingRow,
    atMs: number,
  ): boolean {
    const changes = [
      ...endSome.map((queue) => queue.run(state, reason, atMs, webhook, up_to, with_reversals).changes),
      dropHeld.run(webhook, webhook, held_up_to).changes,
    ];
    if (changes.includes(ROWS_AT_ONCE)) return false;
    remove.run(webhook);
    return true;
  }

  const announce: EndingStore["announce"] = (webhook, { state, reason, withReversals = false }) =>
    void insert.run(webhook, webhook, state, reason, Number(withReversals));

  return {
    begin: (webhook, ending, atMs) =>
      database.transaction(() => {
        announce(webhook, ending);
        end(find.get(webhook)!, atMs);
      }),
    announce,
    step(atMs) {
      const ending = next.get();
      if (!ending) return { more: false };
      const isDone = database.transaction(() => end(ending, atMs));
      return { more: true, ...(isDone && { webhook: ending.webhook }) };
    },
  };
}

/** How full the queues of the webhooks are; those of webhooks that are disabled or suspended are nobody's delay. */
import type { Database } from "./database.ts";

export type QueueFigures = {
  /** Deliveries that were never tried. */
  readonly waiting: number;
  /** Deliveries of which an attempt failed. */
  readonly retrying: number;
  /** Deliveries of what is told again. */
  readonly replaying: number;
  /** When the oldest delivery was made that waits or is retried. */
  readonly oldestMs?: number;
};

/** The parts of a queue, each with the condition of its index. */
const PARTS = {
  waiting: "next_attempt_ms IS NULL AND replay IS NULL",
  retrying: "next_attempt_ms IS NOT NULL AND replay IS NULL",
  replaying: "replay IS NOT NULL",
} as const;

/**
 * Goes from webhook to webhook in the index, and lets others work between two of them: with a million deliveries, one
 * query for all of them would take a tenth of a second.
 *
 * @param pause settles when others have had their turn
 */
export function createQueueFigures(
  database: Database,
  pause: () => Promise<void>,
): () => Promise<QueueFigures> {
  const parts = Object.values(PARTS).map((condition) => ({
    next: database.prepare<{ webhook: number | null }>(
      `SELECT min(webhook) AS webhook FROM deliveries WHERE state = 'pending' AND ${condition} AND webhook > ?`,
    ),
    figures: database.prepare<{ count: number; first: number }>(
      `SELECT count(*) AS count, min(number) AS first FROM deliveries
       WHERE state = 'pending' AND ${condition} AND webhook = ?`,
    ),
  }));
  const isOn = database.prepare("SELECT 1 FROM webhooks WHERE id = ? AND enabled = 1 AND suspended IS NULL");
  const created = database.prepare<{ created_ms: number }>(
    "SELECT created_ms FROM deliveries WHERE number = ?",
  );

  async function read({ next, figures }: (typeof parts)[number]) {
    let count = 0;
    let first = Number.POSITIVE_INFINITY;
    let webhook = next.get(-1)?.webhook ?? null;
    while (webhook !== null) {
      const figure = isOn.get(webhook) === undefined ? undefined : figures.get(webhook);
      if (figure && figure.count > 0) {
        count += figure.count;
        first = Math.min(first, figure.first);
      }
      await pause();
      webhook = next.get(webhook)?.webhook ?? null;
    }
    return { count, first };
  }

  return async () => {
    const [waiting, retrying, replaying] = [
      await read(parts[0]!),
      await read(parts[1]!),
      await read(parts[2]!),
    ];
    const first = Math.min(waiting.first, retrying.first);
    const oldestMs = first === Number.POSITIVE_INFINITY ? undefined : created.get(first)?.created_ms;
    return {
      waiting: waiting.count,
      retrying: retrying.count,
      replaying: replaying.count,
      ...(oldestMs !== undefined && { oldestMs }),
    };
  };
}

/** How full the queues of the webhooks are; those of webhooks that are disabled or suspended are nobody's delay. */
import type { Database } from "./database.ts";

/** Of the queue of a webhook, or of all. */
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

/** Deliveries of a part of a queue; `first` is the number of the oldest. */
type Part = { readonly count: number; readonly first: number };

/** The parts of a queue, each with the condition of its index. */
const PARTS = {
  waiting: "next_attempt_ms IS NULL AND replay IS NULL",
  retrying: "next_attempt_ms IS NOT NULL AND replay IS NULL",
  replaying: "replay IS NOT NULL",
} as const;

/**
 * Makes a function that tells of every queue that is not empty, by webhook. It goes from webhook to webhook in the index,
 * and lets others work between two of them: with a million deliveries, one query for all of them would take a tenth of a
 * second.
 *
 * @param pause settles when others have had their turn
 */
export function createQueueFigures(
  database: Database,
  pause: () => Promise<void>,
): () => Promise<Map<number, QueueFigures>> {
  const parts = Object.values(PARTS).map((condition) => ({
    next: database.prepare<{ webhook: number | null }>(
      `SELECT min(webhook) AS webhook FROM deliveries WHERE state = 'pending' AND ${condition} AND webhook > ?`,
    ),
    figures: database.prepare<Part>(
      `SELECT count(*) AS count, min(number) AS first FROM deliveries
       WHERE state = 'pending' AND ${condition} AND webhook = ?`,
    ),
  }));
  const isOn = database.prepare("SELECT 1 FROM webhooks WHERE id = ? AND enabled = 1 AND suspended IS NULL");
  const created = database.prepare<{ created_ms: number }>(
    "SELECT created_ms FROM deliveries WHERE number = ?",
  );

  async function read({ next, figures }: (typeof parts)[number]): Promise<Map<number, Part>> {
    const found = new Map<number, Part>();
    let webhook = next.get(-1)?.webhook ?? null;
    while (webhook !== null) {
      const part = isOn.get(webhook) === undefined ? undefined : figures.get(webhook);
      if (part && part.count > 0) found.set(webhook, part);
      await pause();
      webhook = next.get(webhook)?.webhook ?? null;
    }
    return found;
  }

  return async () => {
    const [waiting, retrying, replaying] = [
      await read(parts[0]!),
      await read(parts[1]!),
      await read(parts[2]!),
    ];
    const webhooks = new Set([...waiting.keys(), ...retrying.keys(), ...replaying.keys()]);
    return new Map(
      [...webhooks].map((webhook) => {
        const [first, retried] = [waiting.get(webhook), retrying.get(webhook)];
        const oldest = Math.min(
          first?.first ?? Number.POSITIVE_INFINITY,
          retried?.first ?? Number.POSITIVE_INFINITY,
        );
        const oldestMs = oldest === Number.POSITIVE_INFINITY ? undefined : created.get(oldest)?.created_ms;
        const figures: QueueFigures = {
          waiting: first?.count ?? 0,
          retrying: retried?.count ?? 0,
          replaying: replaying.get(webhook)?.count ?? 0,
          ...(oldestMs !== undefined && { oldestMs }),
        };
        return [webhook, figures];
      }),
    );
  };
}

/** All queues as one. */
export function totalOf(queues: Iterable<QueueFigures>): QueueFigures {
  const total = { waiting: 0, retrying: 0, replaying: 0 };
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    total.waiting += queue.waiting;
    total.retrying += queue.retrying;
    total.replaying += queue.replaying;
    oldestMs = Math.min(oldestMs, queue.oldestMs ?? Number.POSITIVE_INFINITY);
  }
  return { ...total, ...(oldestMs !== Number.POSITIVE_INFINITY && { oldestMs }) };
}

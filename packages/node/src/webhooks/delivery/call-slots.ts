/**
 * Slots for concurrent calls. Every webhook has one of its own, so that no other target delays it. Further calls of a
 * webhook take shared slots; targets whose last response was not quick get half of these.
 */
import type { Attempted } from "../observer.ts";
import { type Lane, type Queue, runningOf } from "./queue.ts";

export type CallSlots = {
  /** Whether the queue may begin a call in a lane. */
  isFree(queue: Queue, lane: Lane): boolean;
  /** To be called before the call counts as running. */
  take(queue: Queue): void;
};

/** A response within this time does not occupy a slot for long. */
const QUICK_MS = 1_000;

/** Whether the target of such a call may have more than one at once. */
export const isQuick = ({ reason, durationMs }: Attempted): boolean =>
  reason === undefined && durationMs < QUICK_MS;

/** The slots at this moment. */
export function createCallSlots(queues: Iterable<Queue>, maxShared: number): CallSlots {
  let shared = 0;
  for (const queue of queues) shared += Math.max(0, runningOf(queue) - 1);
  return {
    isFree(queue, lane) {
      // Replays leave room for live events.
      const most = queue.isQuick && lane !== "replay" ? maxShared : maxShared / 2;
      return runningOf(queue) === 0 || shared < most;
    },
    take(queue) {
      if (runningOf(queue) > 0) shared++;
    },
  };
}

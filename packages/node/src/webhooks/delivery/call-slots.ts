/**
 * Slots for concurrent calls. Each webhook has a reserved slot, so that other targets cannot delay it. Its further
 * calls use shared slots; targets whose last response was not quick can use half of them.
 */
import type { Attempted } from "../collaborators.ts";
import { type Lane, type Queue, runningOf } from "./lanes.ts";

export type CallSlots = {
  /** Returns whether the queue may start a call in a lane. */
  isFree(queue: Queue, lane: Lane): boolean;
  /** Takes a slot; must be called before the call counts as running. */
  take(queue: Queue): void;
};

/** Maximum duration of a quick call, which does not occupy a slot for long. */
const QUICK_MS = 1_000;

/** Returns whether the target of such a call may get concurrent calls. */
export const isQuick = ({ reason, durationMs }: Attempted): boolean =>
  reason === undefined && durationMs < QUICK_MS;

/** Computes the current use of the slots. */
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

/** Keeps the event log within its bounds: a piece at a time, so that no block waits for it. */
import type { EventLog, Retention } from "../store/events/event-log.ts";
import type { Interest } from "./subscribed.ts";

export const DEFAULT_EVENT_RETENTION: Retention = {
  maxEvents: 1_000_000,
  maxAgeMs: 7 * 86_400_000,
};

export type EventRetentionDeps = {
  readonly events: Pick<EventLog, "prune">;
  /** Names that nobody wants any more leave with the events. */
  readonly interest: Pick<Interest, "forget">;
  /** Hears why events could not be dropped; the next round tries again. */
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
};

const EVERY_MS = 60_000;
/** Other writers come between two pieces. */
const PAUSE_MS = 10;

/**
 * Drops outdated events from now on, once a minute; those that a reader has not handled stay.
 *
 * @returns how to end it
 */
export function startEventRetention(
  retention: Retention,
  { events, interest, onError, everyMs = EVERY_MS }: EventRetentionDeps,
): () => void {
  let timer: NodeJS.Timeout | undefined;

  function schedule(delayMs: number): void {
    timer = setTimeout(() => schedule(dropSome() ? PAUSE_MS : everyMs), delayMs);
    // Nothing is lost if the process ends instead.
    timer.unref();
  }

  function dropSome(): boolean {
    try {
      interest.forget();
      return events.prune(retention);
    } catch (error) {
      onError(error);
      return false;
    }
  }

  schedule(everyMs);
  return () => clearTimeout(timer);
}

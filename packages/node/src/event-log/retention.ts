/** Keeps the event log within its bounds, in small steps, so that no block waits for it. */
import type { EventLog, Retention } from "../store/events/event-log.ts";
import type { SubscribedEvents } from "./subscribed-events.ts";

export const DEFAULT_EVENT_RETENTION: Retention = {
  maxEvents: 1_000_000,
  maxBytes: 2 * 1024 ** 3,
  maxAgeMs: 7 * 86_400_000,
};

type EventRetentionDeps = {
  readonly events: Pick<EventLog, "prune">;
  /** Names without subscribers are dropped together with old events. */
  readonly subscribedEvents: Pick<SubscribedEvents, "dropExpired">;
  /** Called with the error when events could not be dropped; the next round tries again. */
  readonly onError: (error: unknown) => void;
  readonly everyMs?: number;
};

const EVERY_MS = 60_000;
/** Lets other writers run between two steps. */
const PAUSE_MS = 10;

/**
 * Drops old events once a minute; events that a reader has not handled stay.
 *
 * @returns a function that stops it
 */
export function startEventRetention(
  retention: Retention,
  { events, subscribedEvents, onError, everyMs = EVERY_MS }: EventRetentionDeps,
): () => void {
  let timer: NodeJS.Timeout | undefined;

  function schedule(delayMs: number): void {
    timer = setTimeout(() => schedule(dropSome() ? PAUSE_MS : everyMs), delayMs);
    // Nothing is lost if the process ends instead.
    timer.unref();
  }

  function dropSome(): boolean {
    try {
      subscribedEvents.dropExpired();
      return events.prune(retention);
    } catch (error) {
      onError(error);
      return false;
    }
  }

  schedule(everyMs);
  return () => clearTimeout(timer);
}

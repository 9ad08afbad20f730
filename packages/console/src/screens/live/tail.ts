/** Newest events of a stream that a page shows. */
import type { StreamedEvent } from "@uniknode/client";

export type TailEvent = StreamedEvent & {
  /** Sequence of arrival, from 1. */
  readonly number: number;
  /** Time of arrival by the browser's clock, in milliseconds since 1970. */
  readonly receivedMs: number;
};

export type Tail = {
  /** Shown events, newest first. */
  readonly shown: readonly TailEvent[];
  /** Events that arrived while paused, newest first. */
  readonly waiting: readonly TailEvent[];
  /** Number of all received events, including dropped ones. */
  readonly count: number;
};

export const EMPTY_TAIL: Tail = { shown: [], waiting: [], count: 0 };

/** Maximum number of shown events, and of waiting events. */
export const MAX_KEPT = 200;
/** Time span of the rate. */
const RATE_WINDOW_MS = 10_000;

/** @param came received events, oldest first */
export function withEvents(
  { shown, waiting, count }: Tail,
  came: readonly StreamedEvent[],
  receivedMs: number,
  isPaused: boolean,
): Tail {
  const events = came.map((event, index) => ({ ...event, number: count + index + 1, receivedMs })).reverse();
  const total = count + came.length;
  return isPaused
    ? { shown, waiting: joined(events, waiting), count: total }
    : { shown: joined(events, waiting, shown), waiting: [], count: total };
}

const joined = (...parts: readonly (readonly TailEvent[])[]): TailEvent[] => parts.flat().slice(0, MAX_KEPT);

/** Returns the recent events per second, counted among the kept events. */
export function rateOf({ shown, waiting }: Tail, nowMs: number): number {
  const recent = [...waiting, ...shown].filter(({ receivedMs }) => nowMs - receivedMs < RATE_WINDOW_MS);
  return (recent.length * 1_000) / RATE_WINDOW_MS;
}

/** Returns the numbers of events that were retracted, singly or with their block. */
export function retractedIn(newestFirst: readonly TailEvent[]): ReadonlySet<number> {
  const ids = new Set<string>();
  const blockIds = new Set<string>();
  const retracted = new Set<number>();
  for (const { number, event, id, blockId, reverts } of newestFirst) {
    const isRetraction = reverts !== undefined || event.endsWith("reverted");
    if (!isRetraction && (ids.has(id) || (blockId !== undefined && blockIds.has(blockId)))) {
      retracted.add(number);
    }
    if (reverts !== undefined) ids.add(reverts);
    if (event === "block.reverted" && blockId !== undefined) blockIds.add(blockId);
  }
  return retracted;
}

const NAMES = ["username", "name", "unikname", "id", "address", "ip", "publicKey"];

/** Summarises an event by the identifying member of its content, or by the length of a list. */
export function subjectOf({ data }: StreamedEvent): string {
  if (Array.isArray(data)) return `${data.length} ${data.length === 1 ? "entry" : "entries"}`;
  const members = Object(data) as Record<string, unknown>;
  const name = NAMES.find((name) => typeof members[name] === "string" && members[name] !== "");
  return name === undefined ? "" : (members[name] as string);
}

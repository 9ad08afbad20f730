/** The newest events of a stream, as far as a page shows them. */
import type { StreamedEvent } from "@uniknode/client";

export type TailEvent = StreamedEvent & {
  /** In the order in which they came, from 1 on. */
  readonly number: number;
  /** When it came, by the clock of the browser; milliseconds since 1970. */
  readonly receivedMs: number;
};

export type Tail = {
  /** Newest first. */
  readonly shown: readonly TailEvent[];
  /** Came while the tail was paused; newest first. */
  readonly waiting: readonly TailEvent[];
  /** All that came, those too that are not kept any more. */
  readonly count: number;
};

export const EMPTY_TAIL: Tail = { shown: [], waiting: [], count: 0 };

/** Shown, and as many more waiting. */
export const MAX_KEPT = 200;
/** Time over which the rate is measured. */
const RATE_WINDOW_MS = 10_000;

/** @param came oldest first */
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

/** Events per second of the last seconds; at most what is kept of them can be counted. */
export function rateOf({ shown, waiting }: Tail, nowMs: number): number {
  const recent = [...waiting, ...shown].filter(({ receivedMs }) => nowMs - receivedMs < RATE_WINDOW_MS);
  return (recent.length * 1_000) / RATE_WINDOW_MS;
}

/** Numbers of the events that a later one retracts: one by one, or with their block. */
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

/** What an event is about, by the member of its content that names it; of a list, how many there are. */
export function subjectOf({ data }: StreamedEvent): string {
  if (Array.isArray(data)) return `${data.length} ${data.length === 1 ? "entry" : "entries"}`;
  const members = Object(data) as Record<string, unknown>;
  const name = NAMES.find((name) => typeof members[name] === "string" && members[name] !== "");
  return name === undefined ? "" : (members[name] as string);
}

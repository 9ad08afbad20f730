/** Which events of a block are worth writing (webhooks.md 10 point 12). */
import type { Fact } from "@uniknode/ledger";
import type { BlockHeader } from "@uniknode/protocol";
import { eventsOfFacts } from "../events/block-events.ts";
import type { Event } from "../events/event.ts";

/** A node that was away for less than a day tells everything it missed; one that starts from nothing tells no history. */
export const DEFAULT_MAX_AGE_SECONDS = 86_400;

/** The oldest block that is told while catching up, from the hours that an operator gives; 0 has no limit. */
export const maxAgeSecondsOf = (hours: number): number =>
  hours === 0 ? Number.POSITIVE_INFINITY : hours * 3_600;

export type Wants = {
  /** Names that some reader of the event log wants. */
  readonly names: ReadonlySet<string>;
  /** Whether the node is behind the network; at the head every block is told, however late it comes. */
  readonly isCatchingUp: boolean;
  /** Network time, seconds since the network epoch. */
  readonly now: number;
  /** Older blocks are not told while catching up; `Infinity` tells them all. */
  readonly maxAgeSeconds: number;
};

/** Whether a block is too old to be told of while the node catches up. */
export const isHistory = ({ timestamp }: BlockHeader, { isCatchingUp, now, maxAgeSeconds }: Wants): boolean =>
  isCatchingUp && now - timestamp > maxAgeSeconds;

/**
 * The events that the commit of an applied block writes. Facts that nobody asked for are not even turned into JSON.
 * Reverted blocks do not pass here: what may have been told is always taken back.
 */
export function wantedEvents(facts: readonly Fact[], header: BlockHeader, wants: Wants): Event[] {
  if (isHistory(header, wants)) return [];
  return eventsOfFacts(
    facts.filter(({ name }) => wants.names.has(name)),
    header,
  );
}

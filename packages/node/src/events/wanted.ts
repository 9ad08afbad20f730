/** Which events of a block are worth writing (webhooks.md section 10, point 12). */
import type { Fact } from "@uniknode/ledger";
import type { BlockHeader } from "@uniknode/protocol";
import { eventsOfFacts } from "./chain.ts";
import type { Event } from "./event.ts";

/** A node that was away for less than a day tells everything it missed; one that starts from nothing tells no history. */
export const DEFAULT_MAX_AGE_SECONDS = 86_400;

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

/**
 * The events that the commit of an applied block writes. Facts that nobody asked for are not even turned into JSON.
 * Reverted blocks do not pass here: what may have been told is always taken back.
 */
export function wantedEvents(
  facts: readonly Fact[],
  header: BlockHeader,
  { names, isCatchingUp, now, maxAgeSeconds }: Wants,
): Event[] {
  if (isCatchingUp && now - header.timestamp > maxAgeSeconds) return [];
  return eventsOfFacts(
    facts.filter(({ name }) => names.has(name)),
    header,
  );
}

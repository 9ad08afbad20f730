/** Selects the events of a block that its commit records (webhooks.md 10 point 12). */
import type { BlockHeader, Slots } from "@uniknode/protocol";
import { type BlockFact, eventsOfFacts } from "../events/block-events.ts";
import type { Event } from "../events/event.ts";
import type { SubscribedEvents } from "./subscribed-events.ts";

/** A node that was offline for less than a day records everything it missed; one that starts from nothing records no past. */
const MAX_AGE_SECONDS = 86_400;

/** A node whose head is this many slots old is catching up. */
const BEHIND_SLOTS = 3;

export type RecordingRules = {
  /** Names with at least one subscriber. */
  readonly names: ReadonlySet<string>;
  /** True if the node is behind the network; at the head the age of a block does not matter. */
  readonly isCatchingUp: boolean;
  /** Network time, seconds since the network epoch. */
  readonly now: number;
  readonly slots: Pick<Slots, "unixMsOf">;
};

/** Returns true if the events of a block are not recorded because the node catches up and the block is old. */
export const isTooOld = ({ timestamp }: BlockHeader, { isCatchingUp, now }: RecordingRules): boolean =>
  isCatchingUp && now - timestamp > MAX_AGE_SECONDS;

/**
 * The events that the commit of an applied block records. Facts without subscribers are not even converted to JSON.
 * Reverts do not pass here: a fact that may have been delivered is always retracted.
 */
export function recordedEvents(
  facts: readonly BlockFact[],
  header: BlockHeader,
  rules: RecordingRules,
): Event[] {
  if (isTooOld(header, rules)) return [];
  return eventsOfFacts(
    facts.filter(({ name }) => rules.names.has(name)),
    header,
    rules.slots,
  );
}

type SelectionDeps = {
  readonly subscribedEvents: Pick<SubscribedEvents, "names" | "markGap">;
  readonly slots: Pick<Slots, "blocktime" | "unixMsOf">;
  /** Network time, seconds since the network epoch. */
  readonly now: () => number;
};

/** Returns a function that selects the events by the subscriptions at that moment. */
export function createSelection({ subscribedEvents, slots, now }: SelectionDeps) {
  return (facts: readonly BlockFact[], header: BlockHeader): Event[] => {
    const rules = {
      names: subscribedEvents.names(),
      isCatchingUp: now() - header.timestamp >= BEHIND_SLOTS * slots.blocktime,
      now: now(),
      slots,
    };
    if (isTooOld(header, rules)) subscribedEvents.markGap();
    return recordedEvents(facts, header, rules);
  };
}

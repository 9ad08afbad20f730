/** Selects the events that the commit of an applied block records, by the subscriptions at that moment. */
import type { BlockHeader, Slots } from "@uniknode/protocol";
import type { BlockFact } from "../events/block-events.ts";
import type { Event } from "../events/event.ts";
import { isTooOld, recordedEvents } from "./recorded-events.ts";
import type { SubscribedEvents } from "./subscribed-events.ts";

export type SelectionDeps = {
  readonly subscribedEvents: Pick<SubscribedEvents, "names" | "markGap">;
  readonly slots: Pick<Slots, "blocktime" | "unixMsOf">;
  /** Network time, seconds since the network epoch. */
  readonly now: () => number;
};

/** A node whose head is this many slots old is catching up. */
const BEHIND_SLOTS = 3;

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

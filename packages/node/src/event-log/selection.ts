/** The events that the commit of an applied block writes, as those who want some stand at that moment. */
import type { Fact } from "@uniknode/ledger";
import type { BlockHeader, Slots } from "@uniknode/protocol";
import type { Event } from "../events/event.ts";
import { isHistory, wantedEvents } from "./recorded.ts";
import type { Interest } from "./subscribed.ts";

export type SelectionDeps = {
  readonly interest: Pick<Interest, "names" | "missed">;
  readonly slots: Pick<Slots, "blocktime">;
  /** Network time, seconds since the network epoch. */
  readonly now: () => number;
  /** Older blocks are not told while the node catches up; `Infinity` tells them all. */
  readonly maxAgeSeconds: number;
};

/** A node whose head is this many slots old is catching up. */
const BEHIND_SLOTS = 3;

export function createSelection({ interest, slots, now, maxAgeSeconds }: SelectionDeps) {
  return (facts: readonly Fact[], header: BlockHeader): Event[] => {
    const wants = {
      names: interest.names(),
      isCatchingUp: now() - header.timestamp >= BEHIND_SLOTS * slots.blocktime,
      now: now(),
      maxAgeSeconds,
    };
    if (isHistory(header, wants)) interest.missed();
    return wantedEvents(facts, header, wants);
  };
}

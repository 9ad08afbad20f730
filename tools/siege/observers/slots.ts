/** What the log of a node says of its slots: those it missed for a reason, and those it signed twice. */
import type { Outage } from "../attack.ts";
import type { Row } from "../report.ts";
import type { SiegedNode } from "../target.ts";

/** Missed slots within an outage that have its reason, as the log has them after its first misses. */
export function expectedMisses(
  { slots, logged }: SiegedNode,
  missesBefore: number,
  outages: readonly Outage[],
): Row["expectedMisses"] {
  const slotAt = (unixMs: number) => slots.slotAt(slots.timeAt(unixMs));
  const missed = logged("slot missed").slice(missesBefore) as { slot: number; reason: string }[];
  return outages.map(({ fromMs, toMs, reason }) => ({
    reason,
    slots: missed.filter(
      (miss) => miss.slot >= slotAt(fromMs) && miss.slot <= slotAt(toMs) && miss.reason.includes(reason),
    ).length,
  }));
}

/** Slots that more than one block was signed for. */
export function slotsSignedTwice({ signed }: SiegedNode): number[] {
  const ids = new Map<number, string>();
  return signed().flatMap(({ slot, id }) => {
    const known = ids.get(slot) ?? id;
    ids.set(slot, known);
    return known === id ? [] : [slot];
  });
}

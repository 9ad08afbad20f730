/** Extracts slots from the log of a node: missed ones with their reasons, and slots signed twice. */
import type { Outage } from "./attack-definition.ts";
import type { Row } from "./report.ts";
import type { SiegedNode } from "./target.ts";

type Miss = { readonly slot: number; readonly reason: string };

export type Misses = Pick<Row, "expectedMisses" | "otherMisses">;

/** Missed slots after the first ones of the log: slots within an outage that have its reason, and all others. */
export function missesSince(
  { slots, logged }: SiegedNode,
  missesBefore: number,
  outages: readonly Outage[],
): Misses {
  const slotAt = (unixMs: number) => slots.slotAt(slots.timeAt(unixMs));
  const missed = logged("slot missed").slice(missesBefore) as unknown as Miss[];
  const isOf = ({ fromMs, toMs, reason }: Outage, miss: Miss) =>
    miss.slot >= slotAt(fromMs) && miss.slot <= slotAt(toMs) && miss.reason.includes(reason);
  return {
    expectedMisses: outages
      .map((outage) => ({
        reason: outage.reason,
        slots: missed.filter((miss) => isOf(outage, miss)).length,
      }))
      .filter(({ slots }) => slots > 0),
    otherMisses: missed
      .filter((miss) => !outages.some((outage) => isOf(outage, miss)))
      .map(({ slot, reason }) => `slot ${slot}, "${reason}"`),
  };
}

/**
 * Slots with several blocks signed with the same key. Two keys can have the same slot on two branches: the
 * order of the delegates follows the height.
 */
export function slotsSignedTwice({ signed }: SiegedNode): number[] {
  const ids = new Map<string, string>();
  return signed().flatMap(({ slot, publicKey, id }) => {
    const signing = `${slot} ${publicKey}`;
    const known = ids.get(signing) ?? id;
    ids.set(signing, known);
    return known === id ? [] : [slot];
  });
}

/** Forging order of a round (consensus.md 4). */
import { sha256 } from "@noble/hashes/sha2.js";

const SOURCES_PER_SEED = 4;

/**
 * Slot `s` belongs to `order[s mod n]`.
 *
 * @param ranked public keys of the active delegates, rank 1 first
 */
export function forgingOrder(round: number, ranked: readonly string[]): readonly string[] {
  const order = [...ranked];
  let seed = sha256(new TextEncoder().encode(`${round}`));
  for (let i = 0; i < order.length; i++) {
    const source = i % (SOURCES_PER_SEED + 1);
    if (source === SOURCES_PER_SEED) {
      // Every fifth position is skipped and followed by a new seed.
      seed = sha256(seed);
      continue;
    }
    const j = elementAt(seed, source) % order.length;
    [order[i], order[j]] = [elementAt(order, j), elementAt(order, i)];
  }
  return order;
}

/** @throws {RangeError} outside of the list */
function elementAt<Element>(list: ArrayLike<Element>, index: number): Element {
  const element = list[index];
  if (element === undefined) throw new RangeError(`no element ${index} in a list of ${list.length}`);
  return element;
}

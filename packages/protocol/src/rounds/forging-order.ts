/** Forging order of a round (consensus.md 4). */
import { utf8ToBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import { present } from "../present.ts";

const SOURCES_PER_SEED = 4;

/**
 * The forging order of a round: slot `s` belongs to `order[s mod n]`.
 *
 * @param ranked active delegates in the order of their ranks
 */
export function forgingOrder(round: number, ranked: readonly string[]): string[] {
  const order = [...ranked];
  const count = order.length;
  // seed = SHA256(ASCII decimal digits of the round number)
  let seed = sha256(utf8ToBytes(String(round)));
  let i = 0;
  while (i < count) {
    for (let x = 0; x < SOURCES_PER_SEED && i < count; x++, i++) {
      swap(order, i, (seed[x] ?? 0) % count);
    }
    seed = sha256(seed);
    i++; // every fifth index is skipped as a source (trap A4)
  }
  return order;
}

function swap(order: string[], one: number, other: number): void {
  const [first, second] = [order[one], order[other]];
  order[one] = present(second, "a ranked delegate");
  order[other] = present(first, "a ranked delegate");
}

/** The delegate of a slot; undefined if the order is empty. */
export const delegateOfSlot = (order: readonly string[], slot: number): string | undefined =>
  order[slot % order.length];

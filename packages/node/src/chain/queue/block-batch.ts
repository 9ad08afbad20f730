/** Blocks that came together, on their way through the pipeline in parts. */
import type { Outcome } from "../outcome.ts";
import type { VerifiedBlock } from "../pipeline/verify.ts";

/** The blocks of one call, which are answered together. */
export type Delivery = {
  /** Of the blocks dealt with so far. */
  readonly outcomes: Outcome[];
  readonly size: number;
  /** A block was not accepted: the rest is skipped. */
  isStopped: boolean;
  /** Why there is no answer for the blocks that are left. */
  failure?: unknown;
  readonly answer: PromiseWithResolvers<Outcome[]>;
};

/** A block after verification, or why it cannot be read. */
export type PreparedBlock = VerifiedBlock | Error;

/** Consecutive blocks of a delivery that are verified at once. */
export type Part = {
  readonly delivery: Delivery;
  readonly blocks: readonly Uint8Array[];
  /** Set when its preparation begins; never rejects. */
  preparing?: Promise<void>;
  prepared?: readonly PreparedBlock[];
};

/** About one batch of signatures: 128 empty blocks, or 3 with 50 transfers. */
const PART_BLOCKS = 128;
const PART_BYTES = 32 * 1024;

export const createDelivery = (blocks: readonly Uint8Array[]): Delivery => ({
  outcomes: [],
  size: blocks.length,
  isStopped: false,
  answer: Promise.withResolvers(),
});

export function partsOf(delivery: Delivery, blocks: readonly Uint8Array[]): Part[] {
  const parts: Part[] = [];
  let part: Uint8Array[] = [];
  let bytes = 0;
  for (const block of blocks) {
    part.push(block);
    bytes += block.length;
    if (part.length < PART_BLOCKS && bytes < PART_BYTES) continue;
    parts.push({ delivery, blocks: part });
    part = [];
    bytes = 0;
  }
  if (part.length > 0) parts.push({ delivery, blocks: part });
  return parts;
}

/** Gives the delivery up: its caller hears of it at once, what is left of it is skipped. */
export function fail(delivery: Delivery, error: unknown): void {
  delivery.isStopped = true;
  delivery.answer.reject(error);
}

/** Answers the delivery if all its blocks were dealt with. */
export function settle({ outcomes, size, failure, answer }: Delivery): void {
  if (outcomes.length < size) return;
  if (failure !== undefined) answer.reject(failure);
  else answer.resolve(outcomes);
}

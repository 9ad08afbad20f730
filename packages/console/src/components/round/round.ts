/** Slots of the current round: forged, missed and next. */
import type { Block } from "@uniknode/client";
import { forgingOrder } from "@uniknode/protocol";

export type Slot = {
  readonly slot: number;
  /** Time in seconds since the epoch of the network. */
  readonly epoch: number;
  /** `open`: the slot has ended, and it is not yet known whether it has a block. */
  readonly state: "forged" | "missed" | "open" | "now" | "next";
  /** Public key of the delegate; absent if the order is unknown. */
  readonly delegate?: string | undefined;
  readonly block?: Block;
};

export type Round = {
  /** Round number from 1. */
  readonly round: number;
  readonly firstHeight: number;
  readonly size: number;
  readonly slots: readonly Slot[];
  /** True if the blocks confirm the order, so that slots without a block have a delegate. */
  readonly isOrderKnown: boolean;
};

export type RoundInput = {
  /** Blocks, newest first. */
  readonly blocks: readonly Block[];
  /** Public keys of the active delegates, rank 1 first. */
  readonly ranked: readonly string[];
  readonly size: number;
  readonly blocktime: number;
  /** Time of the chain's clock, in seconds since the epoch of the network. */
  readonly nowEpoch: number;
  /** Time at which the blocks were read, by the same clock. Default: now. */
  readonly readEpoch?: number;
};

/** Returns the round of the block after the given height. */
export const roundAfter = ({ height }: Block, size: number): Pick<Round, "round" | "firstHeight"> => {
  const round = Math.floor(height / size) + 1;
  return { round, firstHeight: (round - 1) * size + 1 };
};

/** Finds the last block of the previous round among the given blocks. */
export const blockBefore = ({ firstHeight }: Pick<Round, "firstHeight">, blocks: readonly Block[]) =>
  blocks.find(({ height }) => height === firstHeight - 1);

/** Returns the round of the next block. If blocks are missing, the round starts at the oldest given block. */
export function roundOf(input: RoundInput): Round | undefined {
  const { blocks, ranked, size, blocktime, nowEpoch, readEpoch = nowEpoch } = input;
  const [head] = blocks;
  if (!head || size < 1 || blocktime < 1) return undefined;
  const { round, firstHeight } = roundAfter(head, size);
  const inRound = blocks.filter(({ height }) => height >= firstHeight).reverse();
  const before = blockBefore({ firstHeight }, blocks);
  const slotOf = ({ timestamp }: Block) => Math.floor(timestamp.epoch / blocktime);
  const order = forgingOrder(round, ranked);
  const isOrderKnown =
    ranked.length === size &&
    // The genesis block does not belong to a slot.
    inRound.every((block) => block.height === 1 || order[slotOf(block) % size] === block.generator.publicKey);

  const slots: Slot[] = [];
  const add = (slot: number, state: Slot["state"]) =>
    slots.push({
      slot,
      epoch: slot * blocktime,
      state,
      delegate: isOrderKnown ? order[slot % size] : undefined,
    });
  /** Missed slots, at most one round: a stalled chain can miss any number. */
  const addUnused = (from: number, until: number, state: "missed" | "open" = "missed") => {
    for (let slot = Math.max(from, until - size); slot < until; slot++) add(slot, state);
  };

  const first = inRound[0];
  let next = before ? slotOf(before) + 1 : first ? slotOf(first) : Math.floor(nowEpoch / blocktime);
  for (const block of inRound) {
    const slot = slotOf(block);
    // The time between the first two blocks, possibly years, has no missed slots.
    if (block.height > 2) addUnused(next, slot);
    slots.push({
      slot,
      epoch: slot * blocktime,
      state: "forged",
      delegate: block.generator.publicKey,
      block,
    });
    next = slot + 1;
  }
  const now = Math.floor(nowEpoch / blocktime);
  const read = Math.min(Math.max(Math.floor(readEpoch / blocktime), next), Math.max(next, now));
  if (head.height > 1) {
    addUnused(next, read);
    addUnused(read, now, "open");
  }
  const start = Math.max(next, now);
  const left = size - inRound.length;
  for (let index = 0; index < left; index++) add(start + index, start + index === now ? "now" : "next");
  return { round, firstHeight, size, slots, isOrderKnown };
}

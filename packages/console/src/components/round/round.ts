/** The slots of the round that runs: who forged, who missed, who is next. */
import type { Block } from "@uniknode/client";
import { forgingOrder } from "./order.ts";

export type Slot = {
  readonly slot: number;
  /** Seconds since the epoch of the network. */
  readonly epoch: number;
  /** `open`: its time is over, and the page does not know yet whether it has a block. */
  readonly state: "forged" | "missed" | "open" | "now" | "next";
  /** Public key. Absent where the order is not known. */
  readonly delegate?: string | undefined;
  readonly block?: Block;
};

export type Round = {
  /** From 1 on. */
  readonly round: number;
  readonly firstHeight: number;
  readonly size: number;
  readonly forged: number;
  readonly slots: readonly Slot[];
  /** Whether unused slots have a delegate: the order was proven by the blocks. */
  readonly isOrderKnown: boolean;
};

export type RoundInput = {
  /** Newest first. */
  readonly blocks: readonly Block[];
  /** Public keys of the active delegates, rank 1 first. */
  readonly ranked: readonly string[];
  readonly size: number;
  readonly blocktime: number;
  /** Of the clock of the chain, seconds since the epoch of the network. */
  readonly nowEpoch: number;
  /** When the blocks were read, by the same clock. Default: now. */
  readonly readEpoch?: number;
};

/** The round of the block that comes after one. */
export const roundAfter = ({ height }: Block, size: number): Pick<Round, "round" | "firstHeight"> => {
  const round = Math.floor(height / size) + 1;
  return { round, firstHeight: (round - 1) * size + 1 };
};

/** The last block of the round before, if it is among some blocks. */
export const blockBefore = ({ firstHeight }: Pick<Round, "firstHeight">, blocks: readonly Block[]) =>
  blocks.find(({ height }) => height === firstHeight - 1);

/** Of the block that comes next. With fewer blocks than the round has, it begins with the first of them. */
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
    // The genesis block is not forged by the delegate of its slot.
    inRound.every((block) => block.height === 1 || order[slotOf(block) % size] === block.generator.publicKey);

  const slots: Slot[] = [];
  const add = (slot: number, state: Slot["state"]) =>
    slots.push({
      slot,
      epoch: slot * blocktime,
      state,
      delegate: isOrderKnown ? order[slot % size] : undefined,
    });
  /** At most a round of them: a chain that stood still has missed any number. */
  const addUnused = (from: number, until: number, state: "missed" | "open" = "missed") => {
    for (let slot = Math.max(from, until - size); slot < until; slot++) add(slot, state);
  };

  const first = inRound[0];
  let next = before ? slotOf(before) + 1 : first ? slotOf(first) : Math.floor(nowEpoch / blocktime);
  for (const block of inRound) {
    const slot = slotOf(block);
    // The years between the first block and the second are no slots that were missed.
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
  return { round, firstHeight, size, forged: inRound.length, slots, isOrderKnown };
}

/** Network time and slots (consensus.md 1): epoch and blocktime always come from the first milestone. */
import type { Milestone } from "./network.ts";

/** Times are whole seconds since the network epoch, possibly negative; slots count from 0 at the epoch. */
export type Slots = {
  /** Seconds of a slot. */
  readonly blocktime: number;
  /** Network time at a Unix time in milliseconds. */
  timeAt(unixMs: number): number;
  slotAt(time: number): number;
  /** First second of a slot. */
  slotTime(slot: number): number;
  /** Returns true if a time is in the first half of its slot: forgers forge only then. */
  isForgingPhase(time: number): boolean;
  /** Unix time in milliseconds at which a network time begins. */
  unixMsOf(time: number): number;
};

/** The parameters of time; a network has them. */
type SlotParameters = {
  milestoneAt(height: number): Pick<Milestone, "epoch" | "blocktime">;
};

export function createSlots(network: SlotParameters): Slots {
  const { epoch, blocktime } = network.milestoneAt(1);
  // The epoch keeps its milliseconds: dalinet's ends in .474.
  const epochMs = Date.parse(epoch);
  return {
    blocktime,
    timeAt: (unixMs) => Math.floor((unixMs - epochMs) / 1000),
    slotAt: (time) => Math.floor(time / blocktime),
    slotTime: (slot) => slot * blocktime,
    // The remainder has the sign of the time, so before the epoch it is always the first half.
    isForgingPhase: (time) => time % blocktime < blocktime / 2,
    unixMsOf: (time) => epochMs + time * 1000,
  };
}

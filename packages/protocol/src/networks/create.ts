/**
 * Creates a network from its files, with its time and slots (consensus.md 1), and finds the blocks of its history that are accepted in
 * spite of their faults (networks.md 3).
 */
import { present } from "../present.ts";
import { checkDelegateCounts, mergeMilestones } from "./milestones.ts";
import type { Milestone, Network, NetworkFiles } from "./network.ts";

/**
 * The network of the files. They are not checked: see `networkFilesFromJson` for untrusted ones.
 *
 * @throws {NetworkError} InvalidMilestoneConfigurationError if the number of delegates changes inside a round
 */
export function createNetwork(files: NetworkFiles): Network {
  checkDelegateCounts(files.milestones);
  const milestones = mergeMilestones(files.milestones);
  const heights = new Set(milestones.map((milestone) => milestone.height));
  return {
    description: files.network,
    exceptions: files.exceptions,
    milestones,
    milestoneAt: (height) => present(milestones[indexAt(height, milestones)], "the first milestone"),
    isMilestone: (height) => heights.has(height),
  };
}

/** Returns the index of the last milestone not above a height; the first one also applies to every height below it. */
function indexAt(height: number, milestones: readonly Milestone[]): number {
  let [first, last] = [0, milestones.length - 1];
  while (first < last) {
    const middle = Math.ceil((first + last) / 2);
    if (present(milestones[middle]).height <= height) first = middle;
    else last = middle - 1;
  }
  return first;
}

/**
 * Returns true if a block is a listed exception. An attacker could create a block with the same partial id:
 * it counts only together with the exact set of transactions listed for it.
 */
export function isBlockException(
  id: string,
  transactionIds: readonly string[],
  { exceptions }: Network,
): boolean {
  if (!exceptions.blocks?.includes(id)) return false;
  if (id.length === 64) return true;
  const listed = exceptions.blocksTransactions?.[id];
  if (!listed || listed.length !== transactionIds.length) return false;
  const sorted = transactionIds.toSorted();
  return listed.toSorted().every((transactionId, index) => transactionId === sorted[index]);
}

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

/** Epoch and blocktime always come from the first milestone. */
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

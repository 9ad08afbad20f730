/** Finality of blocks: a block is final if it is deeper than the network's delegates ever revert. */
import type { Network } from "@uniknode/protocol";

/** Number of rounds of all delegates that must follow a final block. */
const ROUNDS = 2;

/** Returns the height of the last final block; 0 if no block is final. */
export const finalHeight = (head: number, network: Network): number =>
  Math.max(head - ROUNDS * network.milestoneAt(Math.max(head, 1)).activeDelegates, 0);

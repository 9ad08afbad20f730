/** Which blocks are final: deeper below the head than the network's delegates ever revert. */
import type { Network } from "@uniknode/protocol";

/** Rounds of all delegates that lie above a final block. */
const ROUNDS = 2;

/** Height of the last final block; 0 where there is none. */
export const finalHeight = (head: number, network: Network): number =>
  Math.max(head - ROUNDS * network.milestoneAt(Math.max(head, 1)).activeDelegates, 0);

/** Checks before forging that the node is not known to be behind or on a wrong branch. */
import type { BlockHeader } from "@uniknode/protocol";
import { branchToSwitchTo } from "../forks/choose.ts";
import { type Peer, peersAhead } from "../table/peer.ts";

export type HeadStatus = { readonly head: BlockHeader; readonly isSynced: boolean };

/**
 * Returns the reason why the node must not forge on its head; undefined if there is none. Neither a quorum
 * nor a number of peers is required: on these networks a node forges alone if necessary (forger.md 4,
 * traps.md D6). However, no verified peer may be ahead.
 */
export function checkPreflight(peers: readonly Peer[], { head, isSynced }: HeadStatus): string | undefined {
  if (!isSynced) return `not in sync with the network at height ${head.height}`;
  const ahead = peersAhead(peers, head.height);
  if (ahead.length > 0) {
    const height = Math.max(...ahead.map(({ verification }) => verification.hisHeight));
    return `behind: ${ahead.length} of ${peers.length} peers are at height ${height}, this node at ${head.height}`;
  }
  const branch = branchToSwitchTo(peers, head.height);
  if (!branch) return undefined;
  return (
    `on a wrong branch: ${branch.peers.length} of ${peers.length} peers left it at height ` +
    `${branch.commonHeight} and are at height ${branch.height}`
  );
}

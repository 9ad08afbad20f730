/** Blocks of the network's history that are accepted in spite of their faults (networks.md 3). */
import type { Network } from "../networks/network.ts";

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

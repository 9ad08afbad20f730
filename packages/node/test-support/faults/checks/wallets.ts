/** Checks that the last delivered state of each wallet is its current state. */

import { present } from "../../../src/platform/present.ts";
import { type Case, type Delivery, numbered, standingBlocks } from "./case.ts";

/**
 * Checks a webhook that received every change of some wallets: the last delivery has the state of the wallet.
 */
export function findWalletFaults(
  { periods, changes, wallets }: Case,
  deliveries: readonly Delivery[],
): string[] {
  if (periods.length > 1 || present(periods[0]).kind.confirmations > 0) return [];
  const standing = standingBlocks(changes);
  const latest = new Map<string, { id: string; blockId: string; balance: string; nonce: string }>();
  for (const { message } of numbered(deliveries)) {
    if (message.event !== "wallet.saved") continue;
    const { address, balance, nonce } = message.data as Record<"address" | "balance" | "nonce", string>;
    latest.set(address, { id: message.id, blockId: present(message.blockId), balance, nonce });
  }
  return [...latest].flatMap(([address, { id, blockId, balance, nonce }]) => {
    const wallet = wallets.get(address);
    // A wallet that a block created is removed by its revert, without a further event.
    if (!wallet)
      return standing.has(blockId) ? [`${id} has the wallet ${address}, which does not exist`] : [];
    if (wallet.balance === balance && wallet.nonce === nonce) return [];
    return [`${id} has the balance ${balance} of the wallet ${address}, which has ${wallet.balance}`];
  });
}

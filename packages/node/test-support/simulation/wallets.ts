/** Looks whether what was told of wallets ends with what they are. */
import { type Case, type Delivery, numbered, standingBlocks } from "./case.ts";

/** For a webhook that heard everything of some wallets without delay: the last that it heard of each is how it is. */
export function findWalletFaults(
  { periods, changes, wallets }: Case,
  deliveries: readonly Delivery[],
): string[] {
  if (periods.length > 1 || periods[0]!.kind.confirmations > 0) return [];
  const standing = standingBlocks(changes);
  const latest = new Map<string, { id: string; blockId: string; balance: string; nonce: string }>();
  for (const { message } of numbered(deliveries)) {
    if (message.event !== "wallet.saved") continue;
    const { address, balance, nonce } = message.data as Record<"address" | "balance" | "nonce", string>;
    latest.set(address, { id: message.id, blockId: message.blockId!, balance, nonce });
  }
  return [...latest].flatMap(([address, { id, blockId, balance, nonce }]) => {
    const wallet = wallets.get(address);
    // One that came with a block goes with it, and nothing is left to be told.
    if (!wallet)
      return standing.has(blockId) ? [`${id} tells of the wallet ${address}, which is not there`] : [];
    if (wallet.balance === balance && wallet.nonce === nonce) return [];
    return [`${id} tells ${balance} of the wallet ${address}, which has ${wallet.balance}`];
  });
}

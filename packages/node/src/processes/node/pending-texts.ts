/** Converts pending transactions for the serving thread: the text of an asset is created once, not for each page. */
import { type SealedTransaction, type Transaction, transactionToJson } from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import type { PendingMembers, PendingTransaction } from "../../gateway/gateway.ts";
import { toVisibleFields } from "../../store/chain/visible-fields.ts";

/** Bound of the cached texts, in characters. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Counted for each cached text besides its characters. */
const ENTRY_LENGTH = 200;

export function createPendingTexts() {
  /** Asset texts by transaction id, which determines the asset. */
  const assets = new LRUCache<string, string>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (text) => text.length + ENTRY_LENGTH,
  });

  function assetText(id: string, asset: object | undefined): string | null {
    const cached = assets.get(id);
    if (cached !== undefined) return cached;
    const text = toVisibleFields({ ...(asset && { asset }) }).asset;
    if (text !== null) assets.set(id, text);
    return text;
  }

  function pendingTransaction({ data }: SealedTransaction): PendingTransaction {
    const { asset, ...members } = data as Transaction & { readonly asset?: object };
    return {
      members: transactionToJson(members as Transaction) as PendingMembers,
      asset: assetText(data.id, asset),
    };
  }

  return { pendingTransaction };
}

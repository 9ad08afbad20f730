/**
 * Pages of pending transactions for the serving thread. The text of an asset is created once, not for each page: the
 * asset can have thousands of members, and the pages are built by the consensus thread.
 */
import { type SealedTransaction, type Transaction, transactionToJson } from "@uniknode/protocol";
import { LRUCache } from "lru-cache";
import type { PendingMembers, PendingTransaction, PoolPage, PoolRange } from "../gateway/gateway.ts";
import { toAssetText } from "../store/chain/visible-fields.ts";
import type { Pool } from "./pool.ts";

/** Maximum number of transactions of a page. */
const MAX_PENDING = 100;
/** Maximum number of transactions that are sorted for a single page. */
const MAX_ORDERED = 1_000;

export class PendingPages {
  readonly #pool: Pick<Pool, "get" | "size" | "inForgingOrder">;
  readonly #toPending = createPendingTexts();

  constructor(pool: Pick<Pool, "get" | "size" | "inForgingOrder">) {
    this.#pool = pool;
  }

  read(range: PoolRange): PoolPage {
    const { offset, transactions } = pageOf(this.#pool, range);
    const totalCount = this.#pool.size();
    return { transactions: transactions.map(this.#toPending), offset, totalCount };
  }

  find(id: string): PendingTransaction | undefined {
    const transaction = this.#pool.get(id);
    return transaction && this.#toPending(transaction);
  }
}

type Page = Pick<PoolPage, "offset"> & { readonly transactions: readonly SealedTransaction[] };

function pageOf(
  pool: Pick<Pool, "get" | "inForgingOrder">,
  { offset, limit: wanted, afterId }: PoolRange,
): Page {
  const limit = Math.min(wanted, MAX_PENDING);
  const isAfter = afterId !== undefined && pool.get(afterId) !== undefined;
  // The complete order is cached until the pool changes; the first pages need only its beginning.
  const isFar = isAfter || offset + limit > MAX_ORDERED;
  const ordered = pool.inForgingOrder(isFar ? undefined : offset + limit);
  // Without its transaction, a cursor begins at the start: rows can be repeated, but none is hidden.
  const first = afterId === undefined ? offset : 0;
  const start = isAfter ? ordered.findIndex(({ data }) => data.id === afterId) + 1 : first;
  return { offset: start, transactions: ordered.slice(start, start + limit) };
}

/** Bound of the cached texts, in characters. */
const MAX_LENGTH = 16 * 1024 * 1024;
/** Counted for each cached text besides its characters. */
const ENTRY_LENGTH = 200;

/** Returns a function that converts pending transactions. */
export function createPendingTexts(): (transaction: SealedTransaction) => PendingTransaction {
  /** Asset texts by transaction id, which determines the asset. */
  const assets = new LRUCache<string, string>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (text) => text.length + ENTRY_LENGTH,
  });

  function assetText(id: string, asset: object | undefined): string | null {
    const cached = assets.get(id);
    if (cached !== undefined) return cached;
    const text = toAssetText(asset);
    if (text !== null) assets.set(id, text);
    return text;
  }

  return ({ data }) => {
    const { asset, ...members } = data as Transaction & { readonly asset?: object };
    return {
      members: transactionToJson(members as Transaction) as PendingMembers,
      asset: assetText(data.id, asset),
    };
  };
}

/** Follows a transaction: pending, in a block, or pending again after its block was reverted. */
import type { Client, Transaction } from "@uniknode/client";
import { useRef } from "preact/hooks";
import { useNode, useResponse } from "../../data/node.ts";
import type { CachedResponse } from "../../data/response-cache.ts";

const PENDING_INTERVAL_MS = 2_000;

type Found = { readonly data: readonly Transaction[] };

export type WatchedTransaction = {
  /** List of one transaction, or none. */
  readonly response: CachedResponse<Found>;
  readonly transaction: Transaction | undefined;
  /** True if it was seen in a block. */
  readonly wasConfirmed: boolean;
};

export function useTransaction(id: string): WatchedTransaction {
  const { api } = useNode();
  const isPending = useRef(true);
  /** Its id after it was seen in a block; the cached response is dropped when the block is reverted. */
  const confirmedId = useRef("");
  const response = useResponse(`transaction ${id}`, () => find(api, id), {
    ...(isPending.current && { everyMs: PENDING_INTERVAL_MS }),
  });
  const transaction = response.value?.data[0];
  isPending.current = !transaction?.blockId;
  if (transaction?.blockId) confirmedId.current = id;
  return { response, transaction, wasConfirmed: confirmedId.current === id };
}

/** Queries lists, so that a missing transaction is not a failure. */
async function find(api: Client, id: string): Promise<Found> {
  const confirmed = await api.transactions.list({ id }).page({ limit: 1 });
  if (confirmed.data.length > 0) return confirmed;
  for await (const waiting of api.transactions.unconfirmed())
    if (waiting.id === id) return { data: [waiting] };
  return { data: [] };
}

/** Sending wallet, and the nonce of its next transaction. */
import { ApiError, type Client, type SingleWallet } from "@uniknode/client";
import { useNode, useResponse } from "../data/node.ts";
import type { CachedResponse } from "../data/response-cache.ts";

export type Sender = { readonly wallet: SingleWallet; readonly nextNonce: bigint };

/** Returns true if a text has the format of an address; only the node knows whether it is valid. */
export const isAddressText = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]{34}$/.test(text);

/** @param address nothing is fetched unless it has the format of an address */
export function useSender(address: string): CachedResponse<Sender> {
  const { api } = useNode();
  return useResponse(isAddressText(address) ? `wallet ${address} as sender` : undefined, () =>
    readSender(api, address),
  );
}

/** @throws {ApiError} */
export async function readSender(api: Client, address: string): Promise<Sender> {
  // The pool first, so that a transaction forged between the two requests is counted by the wallet.
  const pending = await lastPendingNonce(api, address);
  const { data: wallet } = await api.wallets.get(address);
  const sent = BigInt(wallet.nonce);
  return { wallet, nextNonce: (pending > sent ? pending : sent) + 1n };
}

/** Maximum number of requests per head. In a longer pool the rest is not counted; the nonce can be typed. */
const MAX_PENDING_READ = 300;

async function lastPendingNonce(api: Client, address: string): Promise<bigint> {
  let last = 0n;
  let read = 0;
  for await (const { sender, nonce = "0" } of api.transactions.unconfirmed()) {
    if (sender === address && BigInt(nonce) > last) last = BigInt(nonce);
    if (++read === MAX_PENDING_READ) break;
  }
  return last;
}

export const isUnknown = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "API_NOT_FOUND";

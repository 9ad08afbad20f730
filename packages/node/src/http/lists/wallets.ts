/** Lists of wallets, and the wallet of a path, shared by several resources. */
import { Type } from "../../platform/json/schema.ts";
import { WALLET_ORDERS, type WalletFilter, type WalletOrder } from "../../read/filters.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredWallet } from "../../read/rows.ts";
import { notFound } from "../core/error.ts";
import { type ListRequest, listResponse, pageOf, pageQuery } from "../requests/pagination.ts";
import { address, int, orderBy, orderOf, publicKey, uint, username } from "../requests/parameters.ts";
import { walletResponse } from "../responses/wallet.ts";

export const walletOrder = Type.Optional(orderBy(...WALLET_ORDERS));

/** Parameters of every list of wallets except searches. */
export const walletListQuery = {
  ...pageQuery,
  orderBy: walletOrder,
  address: Type.Optional(address),
  publicKey: Type.Optional(publicKey),
  secondPublicKey: Type.Optional(publicKey),
  vote: Type.Optional(publicKey),
  username: Type.Optional(username),
  balance: Type.Optional(int),
  voteBalance: Type.Optional(uint),
  producedBlocks: Type.Optional(uint),
};

const RICHEST_FIRST: WalletOrder = { field: "balance", direction: "desc" };

export async function walletList(
  { wallets }: Snapshot,
  request: ListRequest,
  filter: WalletFilter,
  orderBy?: string,
) {
  const page = pageOf(request.query);
  const order = orderOf(orderBy, RICHEST_FIRST);
  const { rows, ...found } = await wallets.list(withoutZeros(filter), order, page);
  return listResponse(request, page, { rows: rows.map(walletResponse), ...found });
}

/** Removes zeros: as in the old network, 0 means any value in these two filters. */
const withoutZeros = ({ voteBalance, producedBlocks, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(voteBalance !== undefined && Number(voteBalance) !== 0 && { voteBalance }),
  ...(producedBlocks !== undefined && Number(producedBlocks) !== 0 && { producedBlocks }),
});

/**
 * Finds the wallet of a path segment: an address, public key or username.
 *
 * @throws {HttpError} 404
 */
export async function findWallet({ wallets }: Snapshot, id: string): Promise<StoredWallet> {
  const wallet = await wallets.find(id);
  if (!wallet) throw notFound("WALLET_UNKNOWN", "Wallet");
  return wallet;
}

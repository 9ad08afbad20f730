/** Lists of wallets, and the wallet of a path, shared by several resources. */
import type { WalletFilter } from "../../read/filters.ts";
import { WALLETS } from "../../read/lists.ts";
import type { PastState, Snapshot } from "../../read/port.ts";
import type { StoredWallet } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { notFound } from "../core/error.ts";
import { type ListRequest, listResponse, pageOf } from "../requests/pagination.ts";
import { orderOf } from "../requests/parameters.ts";
import { walletResponse } from "../responses/wallet.ts";

export async function walletList(
  { wallets }: Snapshot,
  request: ListRequest,
  filter: WalletFilter,
  orderBy?: string,
) {
  const page = pageOf(request.query);
  const order = orderOf(orderBy, WALLETS);
  const { rows, ...found } = await wallets.list(withAddresses(withoutZeros(filter)), order, page);
  return listResponse(request, page, { rows: rows.map(walletResponse), ...found });
}

/** Wallet kits send the addresses of several wallets in one parameter. */
const withAddresses = ({ address, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(address?.includes(",") ? { addresses: address.split(",") } : address !== undefined && { address }),
});

/** Removes zeros: as in the old network, 0 means any value in these two filters. */
const withoutZeros = ({ voteBalance, producedBlocks, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(voteBalance !== undefined && Number(voteBalance) !== 0 && { voteBalance }),
  ...(producedBlocks !== undefined && Number(producedBlocks) !== 0 && { producedBlocks }),
});

const PUBLIC_KEY = /^0[23][0-9a-f]{64}$/;

/** Returns the address of a public key, because the chain knows a cold wallet only by its address; other ids unchanged. */
export const toWalletId = ({ addressOf }: Pick<Api, "addressOf">, id: string): string =>
  PUBLIC_KEY.test(id) ? addressOf(id) : id;

/**
 * Finds the address of the wallet of a path segment: an address, public key or username.
 *
 * @throws {HttpError} 404
 */
export async function findAddress(
  api: Pick<Api, "addressOf">,
  { wallets }: Pick<Snapshot, "wallets">,
  id: string,
): Promise<string> {
  const address = await wallets.address(toWalletId(api, id));
  if (address === undefined) throw notFound("WALLET_UNKNOWN", "Wallet");
  return address;
}

/**
 * Finds the wallet of a path segment: an address, public key or username.
 *
 * @throws {HttpError} 404
 */
export async function findWallet(
  api: Pick<Api, "addressOf">,
  { wallets }: Pick<PastState, "wallets">,
  id: string,
): Promise<StoredWallet> {
  const wallet = await wallets.find(toWalletId(api, id));
  if (!wallet) throw notFound("WALLET_UNKNOWN", "Wallet");
  return wallet;
}

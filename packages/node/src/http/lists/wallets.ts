/** Wallets as several resources list them. */
import { Type } from "typebox";
import type { Head } from "../../read/sqlite/snapshot.ts";
import { WALLET_ORDERS, type WalletFilter, type WalletOrder } from "../../read/sqlite/wallets.ts";
import { walletAnswer } from "../answers/wallet.ts";
import { type ListRequest, listAnswer, pageOf, pageQuery } from "../requests/pagination.ts";
import { address, int, orderBy, orderOf, publicKey, uint, username } from "../requests/parameters.ts";
import type { Api } from "../resources/api.ts";

export const walletOrder = Type.Optional(orderBy(...WALLET_ORDERS));

/** Parameters of every list of wallets that is no search. */
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

export function walletList(
  { queries }: Api,
  head: Head,
  request: ListRequest,
  filter: WalletFilter,
  orderBy?: string,
) {
  const page = pageOf(request.query);
  const order = orderOf(orderBy, RICHEST_FIRST);
  const { rows, ...found } = queries.wallets.list(head, withoutZeros(filter), order, page);
  return listAnswer(request, page, { rows: rows.map(walletAnswer), ...found });
}

/** As the old network has it, 0 stands for "whatever it is" in these two filters. */
const withoutZeros = ({ voteBalance, producedBlocks, ...filter }: WalletFilter): WalletFilter => ({
  ...filter,
  ...(voteBalance !== undefined && Number(voteBalance) !== 0 && { voteBalance }),
  ...(producedBlocks !== undefined && Number(producedBlocks) !== 0 && { producedBlocks }),
});

/** Single confirmed transactions and lists of them, shared by several resources. */
import type { Transaction } from "@uniknode/protocol";
import type { TransactionFilter } from "../../read/filters.ts";
import { TRANSACTIONS } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredTransaction } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { type ListRequest, listResponse, pageOf } from "../requests/pagination.ts";
import { orderOf, wantsTransform } from "../requests/parameters.ts";
import {
  rawTransactionResponse,
  type TransactionExtras,
  transactionResponse,
} from "../responses/transaction.ts";

/** Members that a list adds to its rows, in each of the two forms. */
export type ListedExtras = {
  ofRow(transaction: StoredTransaction): TransactionExtras;
  ofSigned(transaction: Transaction): TransactionExtras;
};

export type TransactionListOptions = {
  /** Text of the order; newest first if absent. */
  readonly orderBy?: string | undefined;
  /** Direction within a block. */
  readonly sequence?: "asc" | "desc";
  /** Members that rows have only in this list. */
  readonly extras?: ListedExtras;
};

export async function transactionList(
  api: Api,
  { head, transactions }: Snapshot,
  request: ListRequest<{ transform?: string }>,
  filter: TransactionFilter,
  { orderBy, sequence = "desc", extras }: TransactionListOptions = {},
) {
  const page = pageOf(request.query);
  const { field, direction } = orderOf(orderBy, TRANSACTIONS);
  const asked = [filter, { field, direction, sequence }, page] as const;
  if (!wantsTransform(request.query)) {
    const { rows, ...found } = await transactions.signedList(...asked);
    const data = rows.map((signed) => rawTransactionResponse(signed, extras?.ofSigned(signed)));
    return listResponse(request, page, { rows: data, ...found });
  }
  const { rows, ...found } = await transactions.list(...asked);
  const data = rows.map((row) => transactionResponse(row, head.height, api, extras?.ofRow(row)));
  return listResponse(request, page, { rows: data, ...found });
}

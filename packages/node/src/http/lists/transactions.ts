/** Single confirmed transactions and lists of them, shared by several resources. */
import type { Transaction } from "@uniknode/protocol";
import { Type } from "../../platform/json/schema.ts";
import { TRANSACTION_ORDERS, type TransactionFilter, type TransactionOrder } from "../../read/filters.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredTransaction } from "../../read/rows.ts";
import type { Api } from "../core/api.ts";
import { type ListRequest, listResponse, pageOf, pageQuery } from "../requests/pagination.ts";
import {
  address,
  blockId,
  hex64,
  orderBy,
  orderOf,
  positive,
  publicKey,
  transformQuery,
  uint,
  vendorField,
  wantsTransform,
} from "../requests/parameters.ts";
import {
  rawTransactionResponse,
  type TransactionExtras,
  transactionResponse,
} from "../responses/transaction.ts";

export const transactionOrder = Type.Optional(orderBy(...TRANSACTION_ORDERS));

/** Parameters of every list of transactions that can be filtered. */
export const transactionListQuery = {
  ...pageQuery,
  ...transformQuery,
  orderBy: transactionOrder,
  id: Type.Optional(hex64),
  blockId: Type.Optional(blockId),
  version: Type.Optional(positive),
  timestamp: Type.Optional(uint),
  amount: Type.Optional(uint),
  fee: Type.Optional(uint),
  vendorField: Type.Optional(vendorField),
};

/** Filters that only some lists have. */
export const typeQuery = { type: Type.Optional(uint) };
export const typeGroupQuery = { typeGroup: Type.Optional(uint) };
export const nonceQuery = { nonce: Type.Optional(uint) };
export const senderQuery = { senderPublicKey: Type.Optional(publicKey), senderId: Type.Optional(address) };
export const recipientQuery = { recipientId: Type.Optional(address) };

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
  const { field, direction } = orderOf(orderBy, NEWEST_FIRST);
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

const NEWEST_FIRST: TransactionOrder = { field: "timestamp", direction: "desc" };

/** Confirmed transactions as several resources show and list them. */
import { transactionToJson } from "@uniknode/protocol";
import { Type } from "typebox";
import type { Head } from "../../store/queries/snapshot.ts";
import {
  type StoredTransaction,
  TRANSACTION_ORDERS,
  type TransactionFilter,
  type TransactionOrder,
} from "../../store/queries/transactions.ts";
import { type TransactionAnswer, type TransactionJson, transactionAnswer } from "../answers/transaction.ts";
import type { Api } from "../api.ts";
import { type ListRequest, listAnswer, pageOf, pageQuery } from "../requests/pagination.ts";
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

/** Further filters, which not every list has. */
export const typeQuery = { type: Type.Optional(uint) };
export const typeGroupQuery = { typeGroup: Type.Optional(uint) };
export const nonceQuery = { nonce: Type.Optional(uint) };
export const senderQuery = { senderPublicKey: Type.Optional(publicKey), senderId: Type.Optional(address) };
export const recipientQuery = { recipientId: Type.Optional(address) };

export type TransactionListOptions = {
  /** Text of the order; newest first if absent. */
  readonly orderBy?: string | undefined;
  /** Within a block. */
  readonly sequence?: "asc" | "desc";
  /** Members that a row has in this list only; never in the raw form. */
  readonly extras?: (transaction: StoredTransaction) => object;
};

export function transactionList(
  api: Api,
  head: Head,
  request: ListRequest<{ transform?: string }>,
  filter: TransactionFilter,
  { orderBy, sequence = "desc", extras = () => ({}) }: TransactionListOptions = {},
) {
  const page = pageOf(request.query);
  const { field, direction } = orderOf(orderBy, NEWEST_FIRST);
  const { rows, ...found } = api.queries.transactions.list(
    head,
    filter,
    { field, direction, sequence },
    page,
  );
  const data = rows.map((row) => ({
    ...showTransaction(api, head, row, request.query),
    ...(wantsTransform(request.query) && extras(row)),
  }));
  return listAnswer(request, page, { rows: data, ...found });
}

const NEWEST_FIRST: TransactionOrder = { field: "timestamp", direction: "desc" };

/** A transaction, transformed unless that is not wanted. */
export function showTransaction<A = TransactionAnswer>(
  api: Api,
  head: Head,
  { transaction, blockId, height, timestamp, nonce }: StoredTransaction,
  wanted: { transform?: string },
  encode: (answer: TransactionAnswer) => A = (answer) => answer as A,
): TransactionJson | A {
  const json = transactionToJson(transaction) as TransactionJson;
  if (!wantsTransform(wanted)) return json;
  const place = { blockId, timestamp, nonce, confirmations: head.height - height + 1 };
  return encode(transactionAnswer(json, place, api));
}

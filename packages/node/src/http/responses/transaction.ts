/** Transactions in responses (http-api.md 4.4, transactions.md 15), and lists of confirmed ones. */
import { type Transaction as SignedTransaction, TYPE_GROUPS, transactionToJson } from "@uniknode/protocol";
import type { PendingTransaction } from "../../gateway/gateway.ts";
import { type Static, Type } from "../../platform/json/schema.ts";
import type { TransactionFilter } from "../../read/filters.ts";
import { TRANSACTIONS } from "../../read/lists.ts";
import type { Snapshot } from "../../read/port.ts";
import type { StoredTransaction } from "../../read/rows.ts";
import { toSignaturesText } from "../../store/chain/visible-fields.ts";
import type { Api } from "../core/api.ts";
import { JsonText } from "../core/text.ts";
import {
  address,
  amount,
  blockId,
  count,
  countText,
  hex,
  id,
  publicKey,
  Timestamp,
  type TimestampOf,
  timestampText,
  wholeAmount,
} from "../core/values.ts";
import { type ListRequest, listResponse, pageOf } from "../requests/pagination.ts";
import { orderOf, wantsTransform } from "../requests/parameters.ts";

const asset = Type.Object({}, { description: "Data of the transaction type." });
const unikname = Type.Optional(
  Type.String({
    description: "Only in the list of all transactions: disclosed name of the delegate that is voted for.",
  }),
);

/** The decoded form as JSON: amounts and nonce are decimal text. */
export const RawTransaction = Type.Object(
  {
    id,
    version: count,
    network: Type.Optional(count),
    typeGroup: Type.Optional(Type.Integer({ minimum: 0, description: "Absent for type group 1." })),
    type: count,
    nonce: Type.Optional(countText),
    timestamp: Type.Optional(count),
    senderPublicKey: publicKey,
    amount,
    fee: amount,
    expiration: Type.Optional(count),
    recipientId: Type.Optional(address),
    vendorField: Type.Optional(Type.String()),
    asset: Type.Optional(asset),
    signature: Type.Optional(hex),
    secondSignature: Type.Optional(hex),
    signatures: Type.Optional(Type.Array(hex)),
    unikname,
  },
  {
    title: "RawTransaction",
    description: "A transaction as it was signed: the response if `transform` is false.",
  },
);
type TransactionJson = Static<typeof RawTransaction>;

const members = {
  id,
  blockId: Type.Optional(blockId),
  version: count,
  type: count,
  typeGroup: count,
  amount,
  fee: amount,
  sender: address,
  senderPublicKey: publicKey,
  recipient: Type.String({ description: "The sender if the transaction names no recipient." }),
  signature: Type.Optional(hex),
  signSignature: Type.Optional(hex),
  signatures: Type.Optional(Type.Array(hex)),
  vendorField: Type.Optional(Type.String()),
  asset: Type.Optional(asset),
  confirmations: Type.Integer({
    minimum: 0,
    description: "Number of blocks from its own to the head, both included; 0 while it is pending.",
  }),
  timestamp: Type.Optional(Timestamp),
  nonce: Type.Optional(countText),
  unikname,
};
export const Transaction = Type.Object(members, { title: "Transaction" });
type TransactionResponse = Static<typeof Transaction>;

/** Schema of a transaction in both forms; the parameter `transform` chooses the form. */
export const AnyTransaction = Type.Union([Transaction, RawTransaction]);

export const SingleTransaction = Type.Object(
  { ...members, amount: wholeAmount, fee: wholeAmount, asset },
  { title: "SingleTransaction", description: "Amounts are integers, and `asset` is always present." },
);

export type TransactionContext = {
  readonly timestampOf: TimestampOf;
  readonly addressOf: (publicKey: string) => string;
};

/** Fields of a confirmed or pending transaction that responses contain; a missing field is null. */
type Shown = Omit<StoredTransaction, "blockId" | "height" | "timestamp" | "nonce"> & {
  readonly blockId: string | null;
  /** Seconds since the network epoch. */
  readonly timestamp: number | null;
  readonly nonce: string | null;
};

/** Members that only some lists have. */
export type TransactionExtras = { readonly unikname?: string | undefined };

/** Returns the number of blocks from the transaction's block to the head, both included. */
const confirmationsOf = ({ height }: StoredTransaction, headHeight: number): number =>
  headHeight - height + 1;

export function rawTransactionResponse(
  transaction: SignedTransaction,
  { unikname }: TransactionExtras = {},
): TransactionJson {
  const json = transactionToJson(transaction) as TransactionJson;
  return unikname === undefined ? json : { ...json, unikname };
}

export const transactionResponse = (
  row: StoredTransaction,
  headHeight: number,
  context: TransactionContext,
  extras: TransactionExtras = {},
): JsonText<TransactionResponse> =>
  new JsonText(textOf(row, confirmationsOf(row, headHeight), context, TEXTS, extras));

/** The encoding of `GET /transactions/{id}`: integers, and always an asset (disagreements D-01 and D-03). */
export const singleTransactionResponse = (
  row: StoredTransaction,
  headHeight: number,
  context: TransactionContext,
): JsonText<Static<typeof SingleTransaction>> =>
  new JsonText(textOf(row, confirmationsOf(row, headHeight), context, INTEGERS));

/** Returns a pending transaction as it was signed. */
export function rawPendingResponse({ members, asset }: PendingTransaction): JsonText<TransactionJson> {
  const text = JSON.stringify(members);
  return new JsonText(asset === null ? text : `${text.slice(0, -1)},"asset":${asset}}`);
}

export function pendingResponse(
  { members, asset }: PendingTransaction,
  context: TransactionContext,
): JsonText<TransactionResponse> {
  const json = members as Omit<TransactionJson, "asset">;
  const pending: Shown = {
    ...json,
    signatures: toSignaturesText(json),
    asset,
    typeGroup: json.typeGroup ?? TYPE_GROUPS.core,
    recipientId: json.recipientId ?? null,
    vendorField: json.vendorField ?? null,
    blockId: null,
    timestamp: json.timestamp ?? null,
    nonce: json.nonce ?? null,
  };
  return new JsonText(textOf(pending, 0, context, TEXTS));
}

/** Encoding of amounts, and the value for a missing asset. */
type Encoding = { readonly amount: (digits: string) => string; readonly noAsset: string };
const TEXTS: Encoding = { amount: (digits) => `"${digits}"`, noAsset: "" };
const INTEGERS: Encoding = { amount: (digits) => digits, noAsset: ',"asset":{}' };

/** Only user-defined fields can contain characters that JSON escapes. */
function textOf(
  shown: Shown,
  confirmations: number,
  { timestampOf, addressOf }: TransactionContext,
  { amount, noAsset }: Encoding,
  { unikname }: TransactionExtras = {},
): string {
  const { id, blockId, senderPublicKey, recipientId, vendorField, signatures, asset, timestamp, nonce } =
    shown;
  const sender = addressOf(senderPublicKey);
  const block = blockId === null ? "" : `,"blockId":"${blockId}"`;
  const signed = signatures === "" ? "" : `,${signatures}`;
  const text = vendorField === null ? "" : `,"vendorField":${JSON.stringify(vendorField)}`;
  const about = asset === null ? noAsset : `,"asset":${asset}`;
  const time = timestamp === null ? "" : `,"timestamp":${timestampText(timestampOf(timestamp))}`;
  const position = nonce === null ? "" : `,"nonce":"${nonce}"`;
  const name = unikname === undefined ? "" : `,"unikname":${JSON.stringify(unikname)}`;
  return `{"id":"${id}"${block},"version":${shown.version},"type":${shown.type},"typeGroup":${shown.typeGroup},"amount":${amount(shown.amount)},"fee":${amount(shown.fee)},"sender":"${sender}","senderPublicKey":"${senderPublicKey}","recipient":"${recipientId ?? sender}"${signed}${text}${about},"confirmations":${confirmations}${time}${position}${name}}`;
}

/** Members that a list adds to its rows, in each of the two forms. */
export type ListedExtras = {
  ofRow(transaction: StoredTransaction): TransactionExtras;
  ofSigned(transaction: SignedTransaction): TransactionExtras;
};

type TransactionListOptions = {
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

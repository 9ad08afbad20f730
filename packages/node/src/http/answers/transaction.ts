/** Transactions in answers (http-api.md 4.4, transactions.md section 15). */
import { type Static, Type } from "typebox";
import { integer } from "./integer.ts";
import { Timestamp, type TimestampOf } from "./timestamp.ts";
import { address, amount, blockId, count, countText, hex, id, publicKey, wholeAmount } from "./values.ts";

const asset = Type.Object({}, { description: "What the type of the transaction is about." });

/** The decoded form as JSON: amounts and nonce are decimal text. */
export const RawTransaction = Type.Object(
  {
    id,
    version: count,
    network: Type.Optional(count),
    typeGroup: Type.Optional(Type.Integer({ minimum: 0, description: "Absent for group 1." })),
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
  },
  {
    title: "RawTransaction",
    description: "A transaction as it was signed: the answer where `transform` is false.",
  },
);
export type TransactionJson = Static<typeof RawTransaction>;

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
  recipient: Type.String({ description: "The sender where the transaction names none." }),
  signature: Type.Optional(hex),
  signSignature: Type.Optional(hex),
  signatures: Type.Optional(Type.Array(hex)),
  vendorField: Type.Optional(Type.String()),
  asset: Type.Optional(asset),
  confirmations: Type.Integer({
    minimum: 0,
    description: "Blocks from its own to the head, both counted; 0 while it waits.",
  }),
  timestamp: Type.Optional(Timestamp),
  nonce: Type.Optional(countText),
  unikname: Type.Optional(
    Type.String({ description: "In the list of all: the disclosed name of the delegate that is voted for." }),
  ),
};
export const Transaction = Type.Object(members, { title: "Transaction" });
export type TransactionAnswer = Static<typeof Transaction>;

/** By `transform`. */
export const AnyTransaction = Type.Union([Transaction, RawTransaction]);

export const SingleTransaction = Type.Object(
  { ...members, amount: wholeAmount, fee: wholeAmount, asset },
  { title: "SingleTransaction", description: "Amounts are integers here, and there is always an asset." },
);

/** Where a confirmed transaction stands. */
export type Place = {
  readonly blockId: string;
  /** Blocks from its own to the head, both counted. */
  readonly confirmations: number;
  /** Of the block, seconds since the network epoch. */
  readonly timestamp: number;
  readonly nonce: string;
};

export type TransactionContext = {
  readonly timestampOf: TimestampOf;
  readonly addressOf: (publicKey: string) => string;
};

/** `place` is absent while the transaction waits in the pool. */
export function transactionAnswer(
  json: TransactionJson,
  place: Place | undefined,
  { timestampOf, addressOf }: TransactionContext,
): TransactionAnswer {
  const sender = addressOf(json.senderPublicKey);
  const time = place?.timestamp ?? json.timestamp;
  const nonce = json.nonce ?? place?.nonce;
  return {
    id: json.id,
    ...(place && { blockId: place.blockId }),
    version: json.version,
    type: json.type,
    typeGroup: json.typeGroup ?? 1,
    amount: json.amount,
    fee: json.fee,
    sender,
    senderPublicKey: json.senderPublicKey,
    recipient: json.recipientId ?? sender,
    ...(json.signature !== undefined && { signature: json.signature }),
    ...(json.secondSignature !== undefined && { signSignature: json.secondSignature }),
    ...(json.signatures && { signatures: json.signatures }),
    ...(json.vendorField !== undefined && { vendorField: json.vendorField }),
    ...(json.asset && { asset: json.asset }),
    confirmations: place?.confirmations ?? 0,
    ...(time !== undefined && { timestamp: timestampOf(time) }),
    ...(nonce !== undefined && { nonce }),
  };
}

/** The encoding of `GET /transactions/{id}`: integers, and always an asset (disagreements D-01 and D-03). */
export const missionTransactionAnswer = (answer: TransactionAnswer): Static<typeof SingleTransaction> => ({
  ...answer,
  amount: integer(answer.amount),
  fee: integer(answer.fee),
  asset: answer.asset ?? {},
});

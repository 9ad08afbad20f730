/** Transactions in answers (http-api.md 4.4, transactions.md section 15). */
import { integer } from "./integer.ts";
import type { Timestamp, TimestampOf } from "./timestamp.ts";

/** The decoded form as JSON, as far as answers look into it: amounts and nonce are decimal text. */
export type TransactionJson = {
  id: string;
  version: number;
  typeGroup?: number;
  type: number;
  nonce?: string;
  timestamp?: number;
  senderPublicKey: string;
  amount: string;
  fee: string;
  recipientId?: string;
  vendorField?: string;
  asset?: object;
  signature?: string;
  secondSignature?: string;
  signatures?: string[];
};

/** Where a confirmed transaction stands. */
export type Place = {
  readonly blockId: string;
  /** Blocks from its own to the head, both counted. */
  readonly confirmations: number;
  /** Of the block, seconds since the network epoch. */
  readonly timestamp: number;
  readonly nonce: string;
};

export type TransactionAnswer = {
  id: string;
  blockId?: string;
  version: number;
  type: number;
  typeGroup: number;
  amount: string | number;
  fee: string | number;
  sender: string;
  senderPublicKey: string;
  recipient: string;
  signature?: string;
  signSignature?: string;
  signatures?: string[];
  vendorField?: string;
  asset?: object;
  confirmations: number;
  timestamp?: Timestamp;
  nonce?: string;
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
export const missionTransactionAnswer = (answer: TransactionAnswer): TransactionAnswer => ({
  ...answer,
  amount: integer(`${answer.amount}`),
  fee: integer(`${answer.fee}`),
  asset: answer.asset ?? {},
});

/** Transactions with a valid schema and random signatures: each has a different id, at the cost of one hash. */
import { createHash, randomBytes } from "node:crypto";
import {
  addressFromPublicKey,
  builders,
  encodeTransaction,
  type Network,
  type TransactionBody,
  transactionToJson,
} from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";

/** The signatures of an item. */
export type JunkSignatures = {
  /** Signature of the sender. */
  readonly isSigned?: boolean;
  /** Number of signatures of participants. */
  readonly participants?: number;
};

/** Returns the JSON of a different transaction at each call. */
export type NextText = () => string;

export const TRANSACTIONS_PER_REQUEST = 40;
const SIGNATURE_BYTES = 64;
/** Maximum of the network. */
const RECIPIENTS = 128;

const randomHex = (bytes: number): string => randomBytes(bytes).toString("hex");

/** Random signatures of the first participants. */
export const junkEntries = (participants: number): string[] =>
  Array.from(
    { length: participants },
    (_, index) => index.toString(16).padStart(2, "0") + randomHex(SIGNATURE_BYTES),
  );

/** Generates transactions that differ only in their random signatures. */
export function junkSigned(
  body: TransactionBody,
  { isSigned = false, participants = 0 }: JunkSignatures,
): NextText {
  const { id: _, ...known } = transactionToJson({ ...body, id: "" });
  const start = JSON.stringify(known).slice(0, -1);
  const unsigned = encodeTransaction(body);
  return () => {
    const signature = isSigned ? randomHex(SIGNATURE_BYTES) : "";
    const signatures = junkEntries(participants);
    const id = createHash("sha256")
      .update(unsigned)
      .update(signature + signatures.join(""), "hex")
      .digest("hex");
    const members = {
      id,
      ...(isSigned && { signature }),
      ...(participants > 0 && { signatures }),
    };
    return `${start},${JSON.stringify(members).slice(1)}`;
  };
}

/** The maximum number of payments, to new recipients unless one is given. */
export const manyPayments = (
  network: Network,
  sender: { readonly senderPublicKey: string; readonly nonce: bigint },
  recipientId?: string,
): TransactionBody =>
  builders.multiPayment({
    network,
    ...sender,
    payments: Array.from({ length: RECIPIENTS }, () => ({
      amount: 1n,
      recipientId: recipientId ?? addressFromPublicKey(`02${randomHex(32)}`, network.description.pubKeyHash),
    })),
  });

/** Returns the maximum number of transactions of a request at each call, alternating between the texts. */
export function batches(texts: readonly NextText[]): () => string[] {
  let count = 0;
  return () =>
    Array.from({ length: TRANSACTIONS_PER_REQUEST }, () => present(texts[count++ % texts.length])());
}

export const submissionOf = (transactions: readonly string[]): string =>
  `{"transactions":[${transactions.join(",")}]}`;

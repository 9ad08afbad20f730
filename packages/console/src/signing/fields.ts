/** Splits the bytes of a transaction into fields (transactions.md 3 and 5). */
import type { RawTransaction } from "@uniknode/client";
import { encodeTransaction, type TransactionBody } from "@uniknode/protocol";

export type Field = {
  readonly name: string;
  /** Offset of the first byte. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** Value in the transaction. */
  readonly value: string;
};

/**
 * Returns the fields in byte order without gaps; the hash of these bytes is the id.
 *
 * @param raw transaction as it was signed
 * @throws {Error} if the transaction cannot be encoded
 */
export function fieldsOf(raw: RawTransaction): readonly Field[] {
  const transaction = bodyFromRaw(raw);
  const bytes = encodeTransaction(transaction);
  const fields: Field[] = [];
  let offset = 0;
  const add = (name: string, length: number, value: unknown) => {
    if (length <= 0) return;
    fields.push({ name, offset, bytes: bytes.subarray(offset, offset + length), value: `${value ?? ""}` });
    offset += length;
  };
  const until = (end: number) => end - offset;
  const endBefore = (signature: number) =>
    encodeTransaction(transaction, { exclude: SIGNATURES.slice(signature) }).length;

  add("Marker", 1, "a transaction with a version");
  add("Version", 1, transaction.version);
  add("Network", 1, transaction.network);
  if (transaction.version === 1) {
    add("Type", 1, transaction.type);
    add("Timestamp", 4, `${transaction.timestamp} s since the first block`);
  } else {
    add("Type group", 4, transaction.typeGroup);
    add("Type", 2, transaction.type);
    add("Nonce", 8, transaction.nonce);
  }
  add("Public key of the sender", 33, transaction.senderPublicKey);
  add("Fee", 8, transaction.fee);
  const [textLength = 0] = bytes.subarray(offset);
  add("Length of the text", 1, textLength);
  add("Text", textLength, transaction.vendorField);
  if (isTransfer(transaction)) {
    add("Amount", 8, transaction.amount);
    add("Expiration", 4, transaction.expiration ?? 0);
  }
  add(
    isTransfer(transaction) ? "Recipient" : "Content of the type",
    until(endBefore(0)),
    contentOf(transaction),
  );
  add("Signature", until(endBefore(1)), "over everything before");
  add("Second signature", until(endBefore(2)), "over everything before");
  add("Signatures of members", until(bytes.length), "each with the position of its member");
  return fields;
}

const SIGNATURES = ["signature", "secondSignature", "signatures"] as const;

const isTransfer = ({ typeGroup, type, version }: TransactionBody): boolean =>
  typeGroup === 1 && type === 0 && version !== 1;

const contentOf = (transaction: TransactionBody): string =>
  isTransfer(transaction)
    ? `${transaction.recipientId}`
    : JSON.stringify(
        { recipientId: transaction.recipientId, amount: `${transaction.amount}`, asset: transaction.asset },
        jsonBigint,
      );

const jsonBigint = (_name: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);

/** Converts 64-bit members, which are text in JSON. */
export function bodyFromRaw(raw: RawTransaction): TransactionBody {
  const {
    typeGroup = 1,
    nonce,
    fee,
    amount,
    asset,
    ...rest
  } = raw as RawTransaction & {
    readonly asset?: { readonly payments?: readonly { readonly amount: string }[] };
  };
  const { signSignature, secondSignature = signSignature } = raw as {
    signSignature?: string;
    secondSignature?: string;
  };
  return {
    ...rest,
    ...(secondSignature !== undefined && { secondSignature }),
    typeGroup,
    ...(nonce !== undefined && { nonce: BigInt(nonce) }),
    fee: BigInt(fee),
    amount: BigInt(amount),
    ...(asset && {
      asset: {
        ...asset,
        ...(asset.payments && {
          payments: asset.payments.map((payment) => ({ ...payment, amount: BigInt(payment.amount) })),
        }),
      },
    }),
  } as unknown as TransactionBody;
}

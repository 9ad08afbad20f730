/** Members that builders add to the members of a type. */

import type { Network } from "../networks/network.ts";
import { present } from "../present.ts";
import { TransactionError } from "../transactions/errors.ts";
import { staticFee } from "../transactions/fees.ts";
import type { TransactionBody } from "../transactions/transaction.ts";

type Common = {
  network: Network;
  /** 66 hexadecimal digits. */
  senderPublicKey: string;
  /** Fee in the smallest unit; the static fee if absent. */
  fee?: bigint;
  /** Height of the last block, for the static fee; the last milestone's if absent. */
  height?: number;
};

/** Members of a transaction of version 2. */
export type Envelope = Common & {
  version?: 2;
  /** One more than the nonce of the sender's wallet. */
  nonce: bigint;
};

/** Members of a transaction of version 1, as in genesis blocks. */
export type EnvelopeV1 = Common & {
  version: 1;
  /** Seconds since the network epoch; at 0 the schema accepts amounts and fees of zero. */
  timestamp: number;
};

/** The members of a type that a builder fills in. */
export type Members = Pick<TransactionBody, "typeGroup" | "type"> & Partial<TransactionBody>;

/**
 * An unsigned transaction, without id: `signTransaction` completes it.
 *
 * @throws {TransactionError} TransactionSchemaError for amounts and recipients that no node accepts; the schema of the node checks the rest
 */
export function fill(envelope: Envelope | EnvelopeV1, members: Members): TransactionBody {
  const { network, senderPublicKey, fee } = envelope;
  const { amount, recipientId, asset } = members;
  checkAmount("/fee", fee);
  checkAmount("/amount", amount);
  checkRecipient("/recipientId", recipientId);
  for (const [index, payment] of (asset?.payments ?? []).entries()) {
    checkAmount(`/asset/payments/${index}/amount`, payment.amount);
    checkRecipient(`/asset/payments/${index}/recipientId`, payment.recipientId);
  }
  const height = envelope.height ?? present(network.milestones.at(-1), "the last milestone").height;
  const sequence =
    envelope.version === 1
      ? { version: 1, timestamp: envelope.timestamp }
      : { version: 2, nonce: envelope.nonce };
  const transaction = {
    ...sequence,
    network: network.description.pubKeyHash,
    senderPublicKey,
    fee: 0n,
    amount: 0n,
    ...members,
  };
  return { ...transaction, fee: fee ?? staticFee(transaction, network.milestoneAt(height)) };
}

/** Programs without types pass numbers, and the encoding of a transaction has 64 bits. */
function checkAmount(path: string, value: unknown): void {
  if (value === undefined || (typeof value === "bigint" && value >= 0n && value < 2n ** 63n)) return;
  throw unfit(path, "must be a bigint of at least 0, in the smallest unit");
}

/** Accepts addresses of every network: the chain accepts some recipients of others. The encoding checks the rest. */
function checkRecipient(path: string, value: unknown): void {
  if (value === undefined || (typeof value === "string" && ADDRESS_FORM.test(value))) return;
  throw unfit(path, "must be an address");
}

const ADDRESS_FORM = /^[1-9A-HJ-NP-Za-km-z]{20,}$/;

export const unfit = (path: string, expectation: string): TransactionError =>
  new TransactionError("TransactionSchemaError", `${path.slice(1).replaceAll("/", ".")} ${expectation}`, {
    violation: { path, rule: "builder", expectation },
  });

/** Builders of group 1 (transactions.md 6.3). Types that also exist in version 1 accept either envelope. */
import { addressFromPublicKey, decodeAddress } from "../identities/address.ts";
import type { HtlcExpiration, TransactionBody } from "../transactions/transaction.ts";
import { TYPE_GROUPS } from "../transactions/type-groups.ts";
import { type Envelope, type EnvelopeV1, fill, unfit } from "./envelope.ts";

type AnyEnvelope = Envelope | EnvelopeV1;

/** Pools refuse payments to addresses of other networks, because no key could spend them. */
function checkOwn(path: string, recipientId: string, { network, version }: AnyEnvelope): void {
  if (version === 1) return;
  let isForeign: boolean;
  try {
    ({ isForeign } = decodeAddress(recipientId, network.description.pubKeyHash));
  } catch {
    throw unfit(path, "must be an address");
  }
  if (isForeign)
    throw unfit(path, `must be of this network: ${recipientId} is an address of another network`);
}

/** `amount` in the smallest unit, at least 1. `expiration` is a height; 0 or absent: never. */
export type TransferOptions = AnyEnvelope & {
  recipientId: string;
  amount: bigint;
  vendorField?: string;
  expiration?: number;
};

export const transfer = (options: TransferOptions): TransactionBody => {
  const { recipientId, amount, vendorField, expiration = 0 } = options;
  const members = { typeGroup: TYPE_GROUPS.core, type: 0, recipientId, amount, expiration };
  const transaction = fill(options, { ...members, ...(vendorField && { vendorField }) });
  checkOwn("/recipientId", recipientId, options);
  return transaction;
};

/** Registers a second key for the sender's wallet. It must not be signed a second time. */
export const secondSignature = (options: AnyEnvelope & { publicKey: string }): TransactionBody =>
  fill(options, {
    typeGroup: TYPE_GROUPS.core,
    type: 1,
    asset: { signature: { publicKey: options.publicKey } },
  });

export const delegateRegistration = (options: AnyEnvelope & { username: string }): TransactionBody =>
  fill(options, {
    typeGroup: TYPE_GROUPS.core,
    type: 2,
    asset: { delegate: { username: options.username } },
  });

/** `vote` is `+` or `-`, and the public key of the delegate. */
export const vote = (options: AnyEnvelope & { vote: string }): TransactionBody => {
  const { version, senderPublicKey, network } = options;
  // Version 1 hashes the sender's own address as recipient (transactions.md 7.2).
  const recipientId =
    version === 1 ? addressFromPublicKey(senderPublicKey, network.description.pubKeyHash) : undefined;
  const members = { typeGroup: TYPE_GROUPS.core, type: 3, asset: { votes: [options.vote] } };
  return fill(options, { ...members, ...(recipientId && { recipientId }) });
};

/**
 * Registers a wallet whose transactions need `min` signatures of the keys. Each participant signs with
 * `multiSignTransaction`, then the sender with `signTransaction`.
 */
export const multiSignature = (
  options: Envelope & { min: number; publicKeys: readonly string[] },
): TransactionBody => {
  const { min, publicKeys } = options;
  const asset = { multiSignature: { min, publicKeys: [...publicKeys] } };
  return fill(options, { typeGroup: TYPE_GROUPS.core, type: 4, asset });
};

/** Version 1. `lifetime` in hours, 1 to 72. */
export const multiSignatureLegacy = (
  options: EnvelopeV1 & { min: number; lifetime: number; publicKeys: readonly string[] },
): TransactionBody => {
  const { min, lifetime, publicKeys } = options;
  const keysgroup = publicKeys.map((publicKey) => `+${publicKey}`);
  return fill(options, {
    typeGroup: TYPE_GROUPS.core,
    type: 4,
    asset: { multiSignatureLegacy: { min, lifetime, keysgroup } },
  });
};

/** `multihash` is base58 text. */
export const ipfs = (options: Envelope & { multihash: string }): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.core, type: 5, asset: { ipfs: options.multihash } });

/** Payments: at least two, with amounts in the smallest unit. */
export type MultiPaymentOptions = Envelope & {
  payments: readonly { recipientId: string; amount: bigint }[];
  vendorField?: string;
};

export const multiPayment = (options: MultiPaymentOptions): TransactionBody => {
  const { vendorField } = options;
  const payments = options.payments.map(({ amount, recipientId }) => ({ amount, recipientId }));
  const members = { typeGroup: TYPE_GROUPS.core, type: 6, asset: { payments } };
  const transaction = fill(options, { ...members, ...(vendorField && { vendorField }) });
  for (const [index, { recipientId }] of payments.entries())
    checkOwn(`/asset/payments/${index}/recipientId`, recipientId, options);
  return transaction;
};

export const delegateResignation = (options: Envelope): TransactionBody =>
  fill(options, { typeGroup: TYPE_GROUPS.core, type: 7 });

/** `secretHash`: SHA-256 of the unlock secret, 64 hexadecimal digits. */
export type HtlcLockOptions = Envelope & {
  recipientId: string;
  amount: bigint;
  secretHash: string;
  expiration: HtlcExpiration;
  vendorField?: string;
};

export const htlcLock = (options: HtlcLockOptions): TransactionBody => {
  const { recipientId, amount, secretHash, expiration, vendorField } = options;
  const members = {
    typeGroup: TYPE_GROUPS.core,
    type: 8,
    recipientId,
    amount,
    asset: { lock: { secretHash, expiration } },
  };
  return fill(options, { ...members, ...(vendorField && { vendorField }) });
};

/** `unlockSecret`: 64 hexadecimal digits. */
export type HtlcClaimOptions = Envelope & { lockTransactionId: string; unlockSecret: string };

export const htlcClaim = (options: HtlcClaimOptions): TransactionBody => {
  const { lockTransactionId, unlockSecret } = options;
  return fill(options, {
    typeGroup: TYPE_GROUPS.core,
    type: 9,
    asset: { claim: { lockTransactionId, unlockSecret } },
  });
};

export const htlcRefund = (options: Envelope & { lockTransactionId: string }): TransactionBody => {
  const { lockTransactionId } = options;
  return fill(options, { typeGroup: TYPE_GROUPS.core, type: 10, asset: { refund: { lockTransactionId } } });
};

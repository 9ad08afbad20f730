/** The stateless check of a block (blocks.md 7), which needs neither the chain nor a wallet, and its signatures as jobs for any thread (blocks.md 3). */

import { bytesToHex, hexToBytes } from "../crypto/bytes.ts";
import { isReadableDer } from "../crypto/der.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { SignatureJob, SignatureVerdict } from "../crypto/signature-job.ts";
import { signEcdsa, verifyEcdsa } from "../crypto/signatures.ts";
import { createSlots, type Slots } from "../networks/create.ts";
import type { Milestone, Network } from "../networks/network.ts";
import type { SealedTransaction, Transaction } from "../transactions/transaction.ts";
import type { Block, BlockHeader } from "./block.ts";
import { blockByteLength } from "./codec.ts";
import { encodeUnsignedHeader, type HeaderFields, payloadHashOf, totalsOf } from "./header.ts";

/** The job of verifying a header's signature. */
export const headerSignatureJob = (header: HeaderFields, network: Network): SignatureJob => ({
  hash: sha256(encodeUnsignedHeader(header, network)),
  signature: hexToBytes(header.blockSignature),
  publicKey: hexToBytes(header.generatorPublicKey),
});

/** The job of verifying the signature of a header that `decodeFullHeader` decoded from these bytes. */
export function fullHeaderSignatureJob(header: HeaderFields, bytes: Uint8Array): SignatureJob {
  const signature = hexToBytes(header.blockSignature);
  return {
    hash: sha256(bytes.subarray(0, bytes.length - signature.length)),
    signature,
    publicKey: hexToBytes(header.generatorPublicKey),
  };
}

/** Always verifies ECDSA: 64 bytes of DER are not a Schnorr signature here. */
export function verifyHeaderJob({ hash, signature, publicKey }: SignatureJob): SignatureVerdict {
  if (verifyEcdsa(hash, signature, publicKey)) return "valid";
  return isReadableDer(signature) ? "invalid" : "unreadable";
}

/** Signature over the hash of the header without signature, hexadecimal. */
export const signHeader = (
  header: Omit<HeaderFields, "blockSignature">,
  privateKey: Uint8Array,
  network: Network,
): string => bytesToHex(signEcdsa(sha256(encodeUnsignedHeader(header, network)), privateKey));

type BlockVerdicts = { header: SignatureVerdict; transactions: boolean[] };

/** The block with the results for its transactions; that for the header is an option of `checkBlock`. */
export const withVerdicts = <B extends Block>(block: B, verdicts: BlockVerdicts): B => ({
  ...block,
  transactions: block.transactions.map((transaction, index) => ({
    ...transaction,
    isVerified: verdicts.transactions[index] === true,
  })),
});

/** One code per rule of blocks.md 7; `exception` is a signature that cannot be read. */
export type BlockFaultCode =
  | "previous-block"
  | "reward"
  | "signature"
  | "exception"
  | "version"
  | "timestamp"
  | "payload-size"
  | "unverified-transactions"
  | "unverified-transaction"
  | "transaction-count"
  | "too-many-transactions"
  | "duplicate-transaction"
  | "expired-transaction"
  | "future-transaction"
  | "total-amount"
  | "total-fee"
  | "payload-hash";

/** A fault of a block; faults of one transaction have its id and its index in the block. */
export type BlockFault = {
  readonly code: BlockFaultCode;
  readonly transactionId?: string;
  readonly sequence?: number;
};

export type BlockCheckOptions = {
  network: Network;
  /** Slots of the network, if the caller has them: they are created for each block otherwise. */
  slots?: Slots;
  /** Unix time in milliseconds: a block of a later slot is refused. */
  now: number;
  /** Result for the header's signature if it was verified before; otherwise it is verified here. */
  headerSignature?: SignatureVerdict;
};

/** Seconds that a version 1 transaction may be ahead of its block, beside one slot. */
const MAX_AHEAD_SECONDS = 3600;
/** Seconds by which a version 1 transaction may be older than its block. */
const MAX_AGE_SECONDS = 21600;

/**
 * All faults of a block in the order of the rules; an empty list means that it is verified. Transactions are not
 * verified again: their `isVerified` counts.
 */
export function checkBlock(block: Block, options: BlockCheckOptions): BlockFault[] {
  const { header, transactions } = block;
  const { network, slots = createSlots(network), now } = options;
  const milestone = network.milestoneAt(header.height);
  const faults: BlockFault[] = [];
  const expect = (isRight: boolean, code: BlockFaultCode) => {
    if (!isRight) faults.push({ code });
  };

  // 1, 2
  expect(header.height === 1 || header.previousBlock !== "", "previous-block");
  expect(header.reward === BigInt(milestone.reward), "reward");
  // 3: a signature that cannot be read ends the check
  const signature = options.headerSignature ?? verifyHeaderJob(headerSignatureJob(header, network));
  if (signature === "unreadable") return [...faults, { code: "exception" }];
  expect(signature === "valid", "signature");
  // 4 to 6
  expect(header.version === milestone.block.version, "version");
  expect(slots.slotAt(header.timestamp) <= slots.slotAt(slots.timeAt(now)), "timestamp");
  expect(blockByteLength(block) <= milestone.block.maxPayload, "payload-size");
  // 7
  faults.push(...unverifiedFaults(transactions));
  // 8, 9
  expect(transactions.length === header.numberOfTransactions, "transaction-count");
  expect(
    header.height === 1 || transactions.length <= milestone.block.maxTransactions,
    "too-many-transactions",
  );
  // 10 to 13
  faults.push(...transactionFaults(block, { network, milestone, slots }));
  // 14 to 16
  const data = transactions.map((transaction) => transaction.data);
  const { totalAmount, totalFee } = totalsOf(data);
  expect(totalAmount === header.totalAmount, "total-amount");
  expect(totalFee === header.totalFee, "total-fee");
  expect(payloadHashOf(data.map(({ id }) => id)) === header.payloadHash, "payload-hash");
  return faults;
}

/**
 * Returns true if an unverified transaction comes from a multi-signature wallet: then the node verifies the
 * transactions against their wallets and checks the block again (blocks.md 8).
 */
export const containsMultiSignatures = ({ transactions }: Block): boolean =>
  transactions.some(({ data, isVerified }) => !isVerified && data.signatures !== undefined);

function unverifiedFaults(transactions: readonly SealedTransaction[]): BlockFault[] {
  const faults = transactions.flatMap(({ data, isVerified }, sequence): BlockFault[] =>
    isVerified ? [] : [{ code: "unverified-transaction", transactionId: data.id, sequence }],
  );
  return faults.length > 0 ? [{ code: "unverified-transactions" }, ...faults] : [];
}

type BlockRules = { network: Network; milestone: Milestone; slots: Slots };

/** Rules 10 to 13, transaction by transaction. */
function transactionFaults({ header, transactions }: Block, rules: BlockRules): BlockFault[] {
  // Most blocks are empty.
  if (transactions.length === 0) return [];
  const seen = new Set<string>();
  const faults: BlockFault[] = [];
  for (const [sequence, { data }] of transactions.entries()) {
    const fault = (code: BlockFaultCode) => faults.push({ code, transactionId: data.id, sequence });
    if (seen.has(data.id)) fault("duplicate-transaction");
    seen.add(data.id);
    if (isExpired(data, header, rules)) fault("expired-transaction");
    const ageFault = ageFaultOf(data, header, rules);
    if (ageFault) fault(ageFault);
  }
  return faults;
}

/** Rule 11, with the waiver for a network called devnet. */
function isExpired(
  { expiration = 0 }: Transaction,
  header: BlockHeader,
  { network, milestone }: BlockRules,
): boolean {
  if (milestone.ignoreExpiredTransactions && network.description.name === "devnet") return false;
  return expiration > 0 && expiration <= header.height;
}

/** Rules 12 and 13: the age of version 1 transactions. */
function ageFaultOf(
  { version, timestamp = 0 }: Transaction,
  header: BlockHeader,
  { milestone }: BlockRules,
): BlockFaultCode | undefined {
  if (version !== 1 || milestone.block.acceptExpiredTransactionTimestamps) return undefined;
  if (timestamp > header.timestamp + MAX_AHEAD_SECONDS + milestone.blocktime) return "future-transaction";
  return header.timestamp - timestamp > MAX_AGE_SECONDS ? "expired-transaction" : undefined;
}

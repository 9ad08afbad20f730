/** Makes blocks from transactions (blocks.md 3 and 4). */
import { bytesToHex, concatBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import { signEcdsa } from "../crypto/signatures.ts";
import type { KeyPair } from "../identities/keys.ts";
import type { Network } from "../networks/network.ts";
import type { SealedTransaction } from "../transactions/transaction.ts";
import type { EncodedBlock } from "./block.ts";
import { encodeUnsignedHeader, headerFromFields, payloadHashOf, totalsOf } from "./header.ts";

export type BlockDraft = {
  network: Network;
  /** Network time in seconds: the start of the slot that is forged. */
  timestamp: number;
  /** The block below. */
  previous: { id: string; height: number };
  /** Transactions in block order. They are not checked. */
  transactions: readonly SealedTransaction[];
};

/** The signed block of a draft; its header is encoded once. */
export function forgeBlock(draft: BlockDraft, keys: KeyPair): EncodedBlock {
  const { network, timestamp, previous, transactions } = draft;
  const height = previous.height + 1;
  const milestone = network.milestoneAt(height);
  const data = transactions.map((transaction) => transaction.data);
  const unsigned = {
    version: milestone.block.version,
    timestamp,
    height,
    previousBlock: previous.id,
    numberOfTransactions: transactions.length,
    ...totalsOf(data),
    reward: BigInt(milestone.reward),
    // By convention 32 bytes for each id; no node checks it (trap A18).
    payloadLength: 32 * transactions.length,
    payloadHash: payloadHashOf(data.map(({ id }) => id)),
    generatorPublicKey: bytesToHex(keys.publicKey),
  };
  const unsignedBytes = encodeUnsignedHeader(unsigned, network);
  const signature = signEcdsa(sha256(unsignedBytes), keys.privateKey);
  const headerBytes = concatBytes(unsignedBytes, signature);
  const fields = { ...unsigned, blockSignature: bytesToHex(signature) };
  return { header: headerFromFields(fields, headerBytes, network), headerBytes, transactions };
}

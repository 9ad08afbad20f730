/** Blocks as values (blocks.md). */
import type { SealedTransaction } from "../transactions/transaction.ts";

/** Header of a block with its id (blocks.md 1 and 2). */
export type BlockHeader = {
  id: string;
  /** The full id, or the 16-digit hexadecimal form of the partial one. */
  idHex: string;
  version: number;
  /** Seconds since the network epoch. */
  timestamp: number;
  height: number;
  /** Id of the parent; `"0"` for the genesis block. */
  previousBlock: string;
  previousBlockHex: string;
  numberOfTransactions: number;
  totalAmount: bigint;
  totalFee: bigint;
  reward: bigint;
  payloadLength: number;
  payloadHash: string;
  generatorPublicKey: string;
  /** DER. */
  blockSignature: string;
};

/** A header with its transactions in block order. */
export type Block = {
  readonly header: BlockHeader;
  readonly transactions: readonly SealedTransaction[];
};

/** A block whose header is decoded, and whose transactions are still bytes. */
export type BlockParts = {
  readonly header: BlockHeader;
  /** Bytes of the header with the signature. */
  readonly headerBytes: Uint8Array;
  /** Bytes of the transactions in block order. */
  readonly transactionBytes: readonly Uint8Array[];
};

/** A block with the bytes of its header: it can be stored and sent without encoding. */
export type EncodedBlock = Block & {
  /** Bytes of the header with the signature. */
  readonly headerBytes: Uint8Array;
};

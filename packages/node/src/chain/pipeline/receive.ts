/** First step of the pipeline: parses a block by the rules in force below it. */
import {
  BlockError,
  type BlockHeader,
  type BlockParts,
  blockByteLength,
  blockFromBytesGradually,
  blockFromPartsGradually,
  type EncodedBlock,
  type Network,
  recheckBlock,
} from "@uniknode/protocol";
import { runAtOnce, type Steps } from "../../platform/threads/time-slices.ts";

/** A block as a peer sends it: serialized, or in parts. */
export type FetchedBlock = Uint8Array | BlockParts;

/** A block in the form that a caller has: sent by a peer, created by this node, or read before. */
export type BlockInput = FetchedBlock | EncodedBlock | ReceivedBlock;

/** A block that was parsed. None of its contents are verified. */
export type ReceivedBlock = EncodedBlock & {
  /** Height whose milestone governs its transactions. */
  readonly readAt: number;
};

/**
 * Decodes bytes in steps. Blocks that are already values get the same checks.
 *
 * @throws {BlockError | TransactionError} as `receiveBlock`
 */
export function* receiveGradually(input: BlockInput, network: Network): Steps<ReceivedBlock> {
  if (input instanceof Uint8Array) return yield* receiveBlockGradually(input, network);
  if ("transactionBytes" in input) return yield* receiveParts(input, network);
  return "readAt" in input ? input : receiveMade(input, network);
}

/** Length of the serialization. */
export function inputByteLength(input: BlockInput): number {
  if (input instanceof Uint8Array) return input.length;
  if (!("transactionBytes" in input)) return blockByteLength(input);
  const { headerBytes, transactionBytes } = input;
  return transactionBytes.reduce((total, { length }) => total + 4 + length, headerBytes.length);
}

/**
 * Reads a serialized block by the transaction rules of the height below it. These are the rules of the head
 * for every block that continues the head (trap A1); other blocks are never applied.
 *
 * @throws {BlockError} if it is malformed, or announces more transactions than a block may have
 * @throws {TransactionError} if one of its transactions cannot be read
 */
export const receiveBlock = (bytes: Uint8Array, network: Network): ReceivedBlock =>
  runAtOnce(receiveBlockGradually(bytes, network));

/** The same in steps of a few transactions. The announced number is checked before the first one is read. */
export function* receiveBlockGradually(bytes: Uint8Array, network: Network): Steps<ReceivedBlock> {
  const readAt = Math.max(heightOf(bytes) - 1, 1);
  const checkHeader = (header: BlockHeader) => checkCount(header, network);
  const options = { checkSignature: false, checkHeader };
  const block = yield* blockFromBytesGradually(bytes, { network, height: readAt }, options);
  const headerLength = blockByteLength({ header: block.header, transactions: [] });
  return { ...block, headerBytes: bytes.subarray(0, headerLength), readAt };
}

/** Does the same as `receiveBlockGradually` for a block with a decoded header. */
function* receiveParts(parts: BlockParts, network: Network): Steps<ReceivedBlock> {
  const readAt = Math.max(parts.header.height - 1, 1);
  checkCount(parts.header, network);
  const context = { network, height: readAt };
  return { ...(yield* blockFromPartsGradually(parts, context, { checkSignature: false })), readAt };
}

/**
 * Does the same as `receiveBlock` for a block that this node created: its transactions come from the pool, under the
 * current rules.
 */
export function receiveMade(made: EncodedBlock, network: Network): ReceivedBlock {
  const readAt = Math.max(made.header.height - 1, 1);
  const block = recheckBlock(made, { network, height: readAt });
  checkCount(block.header, network);
  return { ...block, readAt };
}

function checkCount(header: BlockHeader, network: Network): void {
  const { maxTransactions } = network.milestoneAt(header.height).block;
  if (header.numberOfTransactions > maxTransactions) {
    throw new BlockError(
      "INVALID_BLOCK_BYTES",
      `the block announces ${header.numberOfTransactions} transactions; the limit is ${maxTransactions}`,
    );
  }
}

/**
 * Reads the height, which follows version and timestamp (blocks.md 1). Returns 0 for truncated bytes, which
 * fail later.
 */
function heightOf(bytes: Uint8Array): number {
  if (bytes.length < 12) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8, true);
}

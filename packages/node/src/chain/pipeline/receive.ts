/** First step of a block's way: from bytes to a value, by the rules in force below it. */
import { type Block, BlockError, blockByteLength, blockFromBytes, type Network } from "@uniknode/protocol";

/** A block that could be read. Nothing about it is verified. */
export type ReceivedBlock = Block & {
  readonly headerBytes: Uint8Array;
  /** Height whose milestone governs its transactions. */
  readonly readAt: number;
};

/**
 * Reads a serialized block by the transaction rules of the height below it. They are those of the head for every
 * block that continues the head (trap A1); others are not applied, whatever is in them.
 *
 * @throws {BlockError} if it has no such form, or announces more transactions than a block may have
 * @throws {TransactionError} if one of its transactions cannot be read
 */
export function receiveBlock(bytes: Uint8Array, network: Network): ReceivedBlock {
  const readAt = Math.max(heightOf(bytes) - 1, 1);
  const block = blockFromBytes(bytes, { network, height: readAt }, { checkSignature: false });
  const { header } = block;
  const { maxTransactions } = network.milestoneAt(readAt).block;
  if (header.numberOfTransactions > maxTransactions) {
    throw new BlockError(
      "INVALID_BLOCK_BYTES",
      `a block may have ${maxTransactions} transactions, this one announces ${header.numberOfTransactions}`,
    );
  }
  const headerLength = blockByteLength({ header, transactions: [] });
  return { ...block, headerBytes: bytes.subarray(0, headerLength), readAt };
}

/** Behind version and timestamp (blocks.md 1); 0 where the bytes end before, which then is found out. */
function heightOf(bytes: Uint8Array): number {
  if (bytes.length < 12) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8, true);
}

/** First step of a block's way: a value that has a block's form by the rules in force below it. */
import {
  BlockError,
  type BlockHeader,
  type BlockParts,
  blockByteLength,
  blockFromBytes,
  blockFromParts,
  type EncodedBlock,
  type Network,
  recheckBlock,
} from "@uniknode/protocol";

/** A block as a peer sends it: serialized, or in parts. */
export type FetchedBlock = Uint8Array | BlockParts;

/** A block in the form that a caller has it: as a peer sent it, made as a value by this node, or read before. */
export type BlockInput = FetchedBlock | EncodedBlock | ReceivedBlock;

/** A block that could be read. Nothing about it is verified. */
export type ReceivedBlock = EncodedBlock & {
  /** Height whose milestone governs its transactions. */
  readonly readAt: number;
};

/**
 * Bytes are decoded here and nowhere else on the way of a block; values are checked as if they had been.
 *
 * @throws {BlockError | TransactionError} as `receiveBlock`
 */
export function receive(input: BlockInput, network: Network): ReceivedBlock {
  if (input instanceof Uint8Array) return receiveBlock(input, network);
  if ("transactionBytes" in input) return receiveParts(input, network);
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
 * Reads a serialized block by the transaction rules of the height below it. They are those of the head for every
 * block that continues the head (trap A1); others are not applied, whatever is in them.
 *
 * @throws {BlockError} if it has no such form, or announces more transactions than a block may have
 * @throws {TransactionError} if one of its transactions cannot be read
 * @param checkHeader called before the first transaction is read; what it throws ends the reading
 */
export function receiveBlock(
  bytes: Uint8Array,
  network: Network,
  checkHeader: (header: BlockHeader) => void = () => {},
): ReceivedBlock {
  const readAt = Math.max(heightOf(bytes) - 1, 1);
  const options = { checkSignature: false, checkHeader };
  const block = blockFromBytes(bytes, { network, height: readAt }, options);
  checkCount(block.header, readAt, network);
  const headerLength = blockByteLength({ header: block.header, transactions: [] });
  return { ...block, headerBytes: bytes.subarray(0, headerLength), readAt };
}

/** The same for a block with a decoded header. */
function receiveParts(parts: BlockParts, network: Network): ReceivedBlock {
  const readAt = Math.max(parts.header.height - 1, 1);
  checkCount(parts.header, readAt, network);
  return { ...blockFromParts(parts, { network, height: readAt }, { checkSignature: false }), readAt };
}

/** The same for a block that this node has made: its transactions are those of the pool, under the rules of today. */
function receiveMade(made: EncodedBlock, network: Network): ReceivedBlock {
  const readAt = Math.max(made.header.height - 1, 1);
  const block = recheckBlock(made, { network, height: readAt });
  checkCount(block.header, readAt, network);
  return { ...block, readAt };
}

function checkCount(header: BlockHeader, readAt: number, network: Network): void {
  const { maxTransactions } = network.milestoneAt(readAt).block;
  if (header.numberOfTransactions > maxTransactions) {
    throw new BlockError(
      "INVALID_BLOCK_BYTES",
      `a block may have ${maxTransactions} transactions, this one announces ${header.numberOfTransactions}`,
    );
  }
}

/** Behind version and timestamp (blocks.md 1); 0 where the bytes end before, which then is found out. */
function heightOf(bytes: Uint8Array): number {
  if (bytes.length < 12) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8, true);
}

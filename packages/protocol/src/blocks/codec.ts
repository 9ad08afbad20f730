/** Full serialization of a block (blocks.md 5 and 6): header, u32 length of each transaction, transactions; and how it is read. */
import { ByteReader, ByteWriter } from "../bytes/cursor.ts";
import { isBlockException } from "../networks/create.ts";
import type { Network } from "../networks/network.ts";
import { runAtOnce, type Steps } from "../steps.ts";
import {
  type ParseOptions,
  recheckTransaction,
  sealedFromTrustedBytes,
  transactionFromBlock,
} from "../transactions/parse.ts";
import type { TransactionContext } from "../transactions/types/registry.ts";
import type { Block, BlockHeader, BlockParts, EncodedBlock } from "./block.ts";
import { BlockError } from "./error.ts";
import { blockIdToHex, decodeHeader, encodeHeader, type HeaderFields } from "./header.ts";
import { decodedHeaderViolation } from "./schema.ts";

/** The block as bytes, transactions in their canonical encoding. */
export const encodeBlock = ({ header, transactions }: Block, network: Network): Uint8Array =>
  encodeFrame(
    header,
    transactions.map(({ bytes }) => bytes),
    network,
  );

/**
 * Joins the bytes of a header and of the transactions that follow it. The number in the header is used,
 * unless it is 0.
 */
export function encodeFrame(
  header: HeaderFields,
  transactions: readonly Uint8Array[],
  network: Network,
): Uint8Array {
  const numberOfTransactions = header.numberOfTransactions || transactions.length;
  return joinBlock(encodeHeader({ ...header, numberOfTransactions }, network), transactions);
}

export function joinBlock(headerBytes: Uint8Array, transactions: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter();
  writer.bytes(headerBytes);
  for (const { length } of transactions) writer.u32(length);
  for (const bytes of transactions) writer.bytes(bytes);
  return writer.finish();
}

/** A block as bytes, from the bytes of its parts. */
export const bytesOfBlock = ({ headerBytes, transactions }: EncodedBlock): Uint8Array =>
  joinBlock(
    headerBytes,
    transactions.map(({ bytes }) => bytes),
  );

/** Bytes of transactions that are read in one step: about a millisecond. */
const STEP_BYTES = 8 * 1024;

/**
 * Decodes the header, and passes the bytes of each transaction to a function, one after another: a
 * transaction that cannot be read is reported before an impossible length after it. Bytes after the last one
 * are ignored; a header at the end of the bytes has no transactions, regardless of its number.
 *
 * @param checkHeader called before the first transaction is read; its error ends the reading
 * @throws {BlockError} INVALID_BLOCK_BYTES
 */
export const decodeBlock = <T>(
  bytes: Uint8Array,
  network: Network,
  readTransaction: (slice: Uint8Array, sequence: number) => T,
  checkHeader?: (header: BlockHeader) => void,
): { header: BlockHeader; transactions: T[] } =>
  runAtOnce(decodeBlockGradually(bytes, network, readTransaction, checkHeader));

/** The same in steps of a few transactions. */
export function* decodeBlockGradually<T>(
  bytes: Uint8Array,
  network: Network,
  readTransaction: (slice: Uint8Array, sequence: number) => T,
  checkHeader?: (header: BlockHeader) => void,
): Steps<{ header: BlockHeader; transactions: T[] }> {
  const { header, byteLength } = decodeHeader(bytes, network);
  checkHeader?.(header);
  if (byteLength === bytes.length) return { header, transactions: [] };
  const slices = slicesOf(bytes.subarray(byteLength), header.numberOfTransactions);
  try {
    return { header, transactions: yield* readEach(slices, readTransaction) };
  } catch (error) {
    if (error instanceof RangeError) throw new BlockError("INVALID_BLOCK_BYTES", error.message);
    throw error;
  }
}

/** Applies a function to the bytes of each transaction in steps. */
export function* readEach<T>(
  slices: Iterable<Uint8Array>,
  read: (slice: Uint8Array, sequence: number) => T,
): Steps<T[]> {
  const results: T[] = [];
  let stepBytes = 0;
  for (const slice of slices) {
    if (stepBytes >= STEP_BYTES) {
      stepBytes = 0;
      yield;
    }
    results.push(read(slice, results.length));
    stepBytes += slice.length;
  }
  return results;
}

/** The bytes of each transaction, after the lengths of all. @throws {RangeError} */
function* slicesOf(bytes: Uint8Array, count: number): Generator<Uint8Array, void> {
  const lengths = new ByteReader(bytes);
  const slices = new ByteReader(bytes);
  slices.skip(4 * count);
  for (let sequence = 0; sequence < count; sequence++) yield slices.take(lengths.u32());
}

/** Length of the serialization, which `block.maxPayload` limits. */
export const blockByteLength = ({ header, transactions }: Block): number =>
  transactions.reduce((total, { bytes }) => total + 4 + bytes.length, headerByteLength(header));

/** The previous id, the signature, and 109 bytes of fixed length. */
const headerByteLength = (header: BlockHeader): number =>
  109 + (header.previousBlockHex.length + header.blockSignature.length) / 2;

export type BlockParseOptions = ParseOptions & {
  /** Called before the first transaction is read; its error ends the reading. */
  readonly checkHeader?: (header: BlockHeader) => void;
};

/**
 * Reads a block from untrusted bytes, each transaction by the rules in force at the context's height, which
 * is that of the last accepted block. `checkBlock` checks if the block is valid.
 *
 * @throws {BlockError} INVALID_BLOCK_BYTES, or BlockSchemaError on a height of 0 or an amount above 2^63 - 1
 * @throws {TransactionError} if a transaction cannot be read
 */
export const blockFromBytes = (
  bytes: Uint8Array,
  context: TransactionContext,
  options?: BlockParseOptions,
): Block => runAtOnce(blockFromBytesGradually(bytes, context, options));

/** The same in steps of a few transactions. */
export function* blockFromBytesGradually(
  bytes: Uint8Array,
  context: TransactionContext,
  options: BlockParseOptions = {},
): Steps<Block> {
  const { network } = context;
  const { checkHeader, ...parseOptions } = options;
  const readTransaction = (slice: Uint8Array) => transactionFromBlock(slice, context, parseOptions);
  const block = yield* decodeBlockGradually(bytes, network, readTransaction, checkHeader);
  checkForm(block, network);
  return block;
}

/**
 * The block of a decoded header and untrusted bytes of transactions, as `blockFromBytes` reads them, in steps of a
 * few transactions.
 *
 * @throws {BlockError} BlockSchemaError, also when the header has another number of transactions
 * @throws {TransactionError} if a transaction cannot be read
 */
export function* blockFromPartsGradually(
  { header, headerBytes, transactionBytes }: BlockParts,
  context: TransactionContext,
  options: ParseOptions = {},
): Steps<EncodedBlock> {
  if (header.numberOfTransactions !== transactionBytes.length) {
    throw new BlockError(
      "BlockSchemaError",
      `the header announces ${header.numberOfTransactions} transactions, but the block has ${transactionBytes.length}`,
      ".transactions",
    );
  }
  const read = (bytes: Uint8Array) => transactionFromBlock(bytes, context, options);
  const transactions = yield* readEach(transactionBytes, read);
  const block = { header, headerBytes, transactions };
  checkForm(block, context.network);
  return block;
}

/**
 * Checks a block that was created from values, like `blockFromBytes` checks its bytes; its transactions are
 * not verified. Nothing is encoded or decoded.
 *
 * @throws {BlockError} BlockSchemaError
 * @throws {TransactionError} if a transaction is invalid by the rules at the context's height
 */
export function recheckBlock<B extends EncodedBlock>(block: B, context: TransactionContext): B {
  const transactions = block.transactions.map((transaction) => recheckTransaction(transaction, context));
  const rechecked = { ...block, transactions };
  checkForm(rechecked, context.network);
  return rechecked;
}

function checkForm(block: Block, network: Network): void {
  const violation = decodedHeaderViolation(block.header, network);
  const ids = () => block.transactions.map(({ data }) => data.id);
  if (violation && !isBlockException(block.header.id, ids(), network)) {
    throw new BlockError("BlockSchemaError", `the member ${violation} of the block is invalid`, violation);
  }
}

/**
 * Reads a block from bytes that were accepted before: nothing is checked, all transactions count as verified.
 *
 * @param id of the genesis block, which does not follow the ordinary rule
 * @throws {BlockError} INVALID_BLOCK_BYTES
 */
export function blockFromTrustedBytes(bytes: Uint8Array, network: Network, id?: string): Block {
  const block = decodeBlock(bytes, network, (slice) => sealedFromTrustedBytes(slice));
  return id === undefined ? block : { ...block, header: { ...block.header, id, idHex: blockIdToHex(id) } };
}

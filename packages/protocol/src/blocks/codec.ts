/** Full serialization of a block (blocks.md 5): header, u32 length of each transaction, transactions. */
import { createReader } from "../bytes/reader.ts";
import { createWriter } from "../bytes/writer.ts";
import type { Network } from "../networks/network.ts";
import { runAtOnce, type Steps } from "../steps.ts";
import type { Block, BlockHeader, EncodedBlock } from "./block.ts";
import { BlockError } from "./error.ts";
import { decodeHeader, encodeHeader, type HeaderFields } from "./header.ts";

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
  const writer = createWriter();
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
  const lengths = createReader(bytes);
  const slices = createReader(bytes);
  slices.skip(4 * count);
  for (let sequence = 0; sequence < count; sequence++) yield slices.take(lengths.u32());
}

/** Length of the serialization, which `block.maxPayload` limits. */
export const blockByteLength = ({ header, transactions }: Block): number =>
  transactions.reduce((total, { bytes }) => total + 4 + bytes.length, headerByteLength(header));

/** The previous id, the signature, and 109 bytes of fixed length. */
const headerByteLength = (header: BlockHeader): number =>
  109 + (header.previousBlockHex.length + header.blockSignature.length) / 2;

/** Full serialization of a block (blocks.md 5): header, u32 length of each transaction, transactions. */
import { createReader } from "../bytes/reader.ts";
import { createWriter } from "../bytes/writer.ts";
import type { Network } from "../networks/network.ts";
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

/**
 * Decodes the header, and passes the bytes of each transaction to a function, one after another: a
 * transaction that cannot be read is reported before an impossible length after it. Bytes after the last one
 * are ignored; a header at the end of the bytes has no transactions, regardless of its number.
 *
 * @param checkHeader called before the first transaction is read; its error ends the reading
 * @throws {BlockError} INVALID_BLOCK_BYTES
 */
export function decodeBlock<T>(
  bytes: Uint8Array,
  network: Network,
  readTransaction: (slice: Uint8Array, sequence: number) => T,
  checkHeader?: (header: BlockHeader) => void,
): { header: BlockHeader; transactions: T[] } {
  const { header, byteLength } = decodeHeader(bytes, network);
  checkHeader?.(header);
  const transactions: T[] = [];
  if (byteLength === bytes.length) return { header, transactions };
  try {
    const lengths = createReader(bytes.subarray(byteLength));
    const slices = createReader(bytes.subarray(byteLength));
    slices.skip(4 * header.numberOfTransactions);
    for (let sequence = 0; sequence < header.numberOfTransactions; sequence++) {
      transactions.push(readTransaction(slices.take(lengths.u32()), sequence));
    }
  } catch (error) {
    if (error instanceof RangeError) throw new BlockError("INVALID_BLOCK_BYTES", error.message);
    throw error;
  }
  return { header, transactions };
}

/** Length of the serialization, which `block.maxPayload` limits. */
export const blockByteLength = ({ header, transactions }: Block): number =>
  transactions.reduce((total, { bytes }) => total + 4 + bytes.length, headerByteLength(header));

/** The previous id, the signature, and 109 bytes of fixed length. */
const headerByteLength = (header: BlockHeader): number =>
  109 + (header.previousBlockHex.length + header.blockSignature.length) / 2;

/**
 * Header bytes (blocks.md 1): version u32, timestamp u32, height u32, previous id (8 or 32 bytes),
 * number of transactions u32, total amount u64, total fee u64, reward u64, payload length u32, payload
 * hash (32), generator public key (33), block signature (DER). The id is their SHA-256 in hexadecimal, or its first eight bytes as a
 * decimal number (blocks.md 2).
 */
import { ByteReader, ByteWriter } from "../bytes/cursor.ts";
import { bytesToHex, concatBytes, hexToBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { Network } from "../networks/network.ts";
import type { Transaction } from "../transactions/transaction.ts";
import type { BlockHeader } from "./block.ts";
import { BlockError } from "./error.ts";

/** An id, and the same in hexadecimal: 64 digits, or 16 for a partial id. */
type BlockId = { id: string; idHex: string };

const U64_MAX = 0xffff_ffff_ffff_ffffn;

/** Returns true if blocks of this height have full ids. */
export const hasFullId = (height: number, network: Network): boolean =>
  network.milestoneAt(height).block.idFullSha256 === true;

/** Returns the id of the block with these header bytes, signature included, by the scheme of its own height. */
export function blockIdOf(headerBytes: Uint8Array, height: number, network: Network): BlockId {
  const hash = sha256(headerBytes);
  const computed = hasFullId(height, network) ? fullIdOf(hash) : partialIdOf(hash);
  const replacement = network.exceptions.outlookTable?.[computed.id];
  if (replacement === undefined) return computed;
  return { id: replacement, idHex: blockIdToHex(replacement) };
}

/** The full id of a hash of 32 bytes. */
export function fullIdOf(hash: Uint8Array): BlockId {
  const id = bytesToHex(hash);
  return { id, idHex: id };
}

/** The partial id of a hash of 32 bytes: the number whose big-endian bytes are h[7] ... h[0]. */
export function partialIdOf(hash: Uint8Array): BlockId {
  const idHex = bytesToHex(hash.slice(0, 8).reverse());
  return { id: partialIdFromHex(idHex), idHex };
}

/** The 16 digits of a decimal id; a full id stays as it is. */
export const blockIdToHex = (id: string): string => (id.length === 64 ? id : partialIdToHex(id));

/**
 * The 16 hexadecimal digits of a partial id; an empty one, as of the parent of the genesis block, is zero.
 *
 * @throws {BlockError} BlockSchemaError unless it is a decimal number below 2^64
 */
export function partialIdToHex(id: string | null): string {
  const value = /^[0-9]{0,20}$/.test(id ?? "") ? BigInt(id ?? "") : -1n;
  if (value < 0n || value > U64_MAX) {
    throw new BlockError("BlockSchemaError", "a partial block id must be a decimal number below 2^64");
  }
  return value.toString(16).padStart(16, "0");
}

/** The decimal text of 16 hexadecimal digits. */
export const partialIdFromHex = (hex: string): string => BigInt(`0x${hex}`).toString();

/** The members that the bytes of a header have; the others are derived. */
export type HeaderFields = Omit<BlockHeader, "id" | "idHex" | "previousBlockHex">;

/**
 * The header at the start of the bytes, with the id computed from it, and its number of bytes. At
 * height 1 the id is the computed one too, not the one written in the genesis file.
 *
 * @throws {BlockError} INVALID_BLOCK_BYTES if they end too early
 */
export function decodeHeader(
  bytes: Uint8Array,
  network: Network,
): { header: BlockHeader; byteLength: number } {
  const { fields, byteLength } = readFields(bytes, (height) => hasFullPreviousId(height, network));
  const id = blockIdOf(bytes.subarray(0, byteLength), fields.height, network);
  return { header: joinHeader(id, fields), byteLength };
}

/**
 * Returns the header of fields that were just encoded, equal to the result of `decodeHeader` for the bytes.
 *
 * @param bytes of the header, signature included
 */
export function headerFromFields(fields: HeaderFields, bytes: Uint8Array, network: Network): BlockHeader {
  const previousBlockHex = previousIdHex(fields, network);
  const previousBlock = hasFullPreviousId(fields.height, network)
    ? previousBlockHex
    : partialIdFromHex(previousBlockHex);
  const id = blockIdOf(bytes, fields.height, network);
  return joinHeader(id, { ...fields, previousBlock, previousBlockHex });
}

/**
 * The header of stored bytes without transactions, with its stored id. They need no network: the length
 * of the previous id follows from the end of the signature.
 *
 * @throws {BlockError} INVALID_BLOCK_BYTES
 */
export function headerFromTrustedBytes(bytes: Uint8Array, id: string): BlockHeader {
  // A partial id never follows a full one.
  const isFull = id.length === 64 && endsWithSignatureAt(109 + 32, bytes);
  return joinHeader({ id, idHex: blockIdToHex(id) }, readFields(bytes, () => isFull).fields);
}

/**
 * Decodes exactly the bytes of a header, if both the block and its parent have full ids. They need no network. The bytes of a
 * header with a partial id of its parent are refused, or decoded to a header whose signature is invalid.
 *
 * @throws {BlockError} INVALID_BLOCK_BYTES
 */
export function decodeFullHeader(bytes: Uint8Array): BlockHeader {
  const { fields, byteLength } = readFields(bytes, () => true);
  if (byteLength !== bytes.length) {
    throw new BlockError("INVALID_BLOCK_BYTES", `${bytes.length - byteLength} bytes follow the signature`);
  }
  return joinHeader(fullIdOf(sha256(bytes)), fields);
}

/**
 * Encodes a header with its signature; the hash of the bytes is the id.
 *
 * @throws {BlockError} PreviousBlockIdFormatError, or BlockSchemaError if a partial previous id is not a
 * number
 */
export const encodeHeader = (header: HeaderFields, network: Network): Uint8Array =>
  encode(header, header.blockSignature, network);

/** Bytes of a header without signature, whose hash the generator signs. */
export const encodeUnsignedHeader = (
  header: Omit<HeaderFields, "blockSignature">,
  network: Network,
): Uint8Array => encode(header, "", network);

function encode(
  header: Omit<HeaderFields, "blockSignature">,
  blockSignature: string,
  network: Network,
): Uint8Array {
  const writer = new ByteWriter();
  writer.u32(header.version);
  writer.u32(header.timestamp);
  writer.u32(header.height);
  writer.hex(previousIdHex(header, network));
  writer.u32(header.numberOfTransactions);
  writer.u64(header.totalAmount);
  writer.u64(header.totalFee);
  writer.u64(header.reward);
  writer.u32(header.payloadLength);
  // Lengths are not checked here: reading the bytes again detects wrong ones.
  writer.hex(header.payloadHash);
  writer.hex(header.generatorPublicKey);
  writer.hex(blockSignature);
  return writer.finish();
}

/** The height before determines the form of the previous id; height 1 uses its own. */
const hasFullPreviousId = (height: number, network: Network): boolean =>
  hasFullId(Math.max(height - 1, 1), network);

function previousIdHex(header: { height: number; previousBlock: string }, network: Network): string {
  if (!hasFullPreviousId(header.height, network)) return partialIdToHex(header.previousBlock);
  if (header.previousBlock.length !== 64) {
    throw new BlockError(
      "PreviousBlockIdFormatError",
      `the previous block id of height ${header.height} must have 64 digits`,
      ".previousBlock",
    );
  }
  return header.previousBlock;
}

type ReadFields = HeaderFields & Pick<BlockHeader, "previousBlockHex">;

/** Names each member: the engine copies those of a second spread one by one, and looks up each name. */
const joinHeader = ({ id, idHex }: BlockId, fields: ReadFields): BlockHeader => ({
  id,
  idHex,
  version: fields.version,
  timestamp: fields.timestamp,
  height: fields.height,
  previousBlock: fields.previousBlock,
  previousBlockHex: fields.previousBlockHex,
  numberOfTransactions: fields.numberOfTransactions,
  totalAmount: fields.totalAmount,
  totalFee: fields.totalFee,
  reward: fields.reward,
  payloadLength: fields.payloadLength,
  payloadHash: fields.payloadHash,
  generatorPublicKey: fields.generatorPublicKey,
  blockSignature: fields.blockSignature,
});

function readFields(
  bytes: Uint8Array,
  isFullAt: (height: number) => boolean,
): { fields: ReadFields; byteLength: number } {
  try {
    const reader = new ByteReader(bytes);
    const version = reader.u32();
    const timestamp = reader.u32();
    const height = reader.u32();
    const isFull = isFullAt(height);
    const previousBlockHex = reader.hex(isFull ? 32 : 8);
    const fields = {
      version,
      timestamp,
      height,
      previousBlock: isFull ? previousBlockHex : partialIdFromHex(previousBlockHex),
      previousBlockHex,
      numberOfTransactions: reader.u32(),
      totalAmount: reader.u64(),
      totalFee: reader.u64(),
      reward: reader.u64(),
      payloadLength: reader.u32(),
      payloadHash: reader.hex(32),
      generatorPublicKey: reader.hex(33),
      // The second byte of DER is the number of bytes that follow it.
      blockSignature: reader.hex(2 + (reader.peek(1) ?? 0)),
    };
    return { fields, byteLength: reader.position() };
  } catch (error) {
    if (error instanceof RangeError) throw new BlockError("INVALID_BLOCK_BYTES", error.message);
    throw error;
  }
}

/** Returns true if a DER signature begins here and fills the rest of the bytes. */
const endsWithSignatureAt = (offset: number, bytes: Uint8Array): boolean =>
  bytes[offset] === 0x30 && bytes[offset + 1] === bytes.length - offset - 2 && bytes[offset + 2] === 0x02;

/** Hash of the concatenated transaction ids in block order. */
export const payloadHashOf = (transactionIds: readonly string[]): string =>
  bytesToHex(sha256(concatBytes(...transactionIds.map(hexToBytes))));

/** Sums of the decoded members; the payments of a multi-payment are not in its amount. */
export function totalsOf(transactions: readonly Transaction[]): { totalAmount: bigint; totalFee: bigint } {
  let totalAmount = 0n;
  let totalFee = 0n;
  for (const { amount, fee } of transactions) {
    totalAmount += amount;
    totalFee += fee;
  }
  return { totalAmount, totalFee };
}

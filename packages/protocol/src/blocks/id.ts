/** Block ids: the full SHA-256 in hexadecimal, or its first eight bytes as a decimal number (blocks.md 2). */
import { bytesToHex } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { Network } from "../networks/network.ts";
import { BlockError } from "./error.ts";

/** An id, and the same in hexadecimal: 64 digits, or 16 for a partial id. */
export type BlockId = { id: string; idHex: string };

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

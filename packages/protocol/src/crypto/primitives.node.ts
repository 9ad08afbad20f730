/** Digests, ciphers and hexadecimal by the built-in implementation of Node.js (identities.md 1 and 10). */
import { createCipheriv, createDecipheriv, hash, scrypt as scryptWithCallback } from "node:crypto";
import { promisify } from "node:util";
import { base58, createBase58check } from "@scure/base";

export { base58 };

/** SHA-256 of the bytes: 32 bytes. */
export const sha256 = (data: Uint8Array): Uint8Array => digest("sha256", data);

/** RIPEMD-160 of the bytes: 20 bytes. */
export const ripemd160 = (data: Uint8Array): Uint8Array => digest("ripemd160", data);

/** SHA-1 of the bytes: 20 bytes. Exposed for completeness; the protocol does not use it. */
export const sha1 = (data: Uint8Array): Uint8Array => digest("sha1", data);

/** Uses a text with one character per byte, which is three times as fast as a buffer (0.4 against 1.2 us). */
const digest = (algorithm: string, data: Uint8Array): Uint8Array =>
  plain(Buffer.from(hash(algorithm, data, "binary"), "binary"));

/** Texts of bytes and the first four bytes of their double SHA-256. */
export const base58check = createBase58check(sha256);

/** SHA-256 as 64 lower-case hexadecimal digits. */
export const sha256Hex = (data: Uint8Array): string => hash("sha256", data);

/** Lower-case hexadecimal of the bytes from one index to another, two digits a byte. */
export const toHex = (bytes: Uint8Array, start = 0, end = bytes.length): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("hex");

/** Bytes of a hexadecimal text, up to the first pair of characters that is none. */
export const fromHex = (text: string): Uint8Array => plain(Buffer.from(text, "hex"));

/** The same bytes without the methods of Buffer, some of which mean something else (`slice` does not copy). */
const plain = (buffer: Buffer): Uint8Array =>
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);

/** Cost of scrypt: `N` a power of two, `r` the block size, `p` the parallelisation. */
export type ScryptCost = { N: number; r: number; p: number };

const scryptAsync = promisify<Uint8Array, Uint8Array, number, object, Buffer>(scryptWithCallback);

/** Key of `length` bytes derived from a password, computed outside of the event loop. */
export async function scrypt(
  password: Uint8Array,
  salt: Uint8Array,
  cost: ScryptCost,
  length: number,
): Promise<Uint8Array> {
  // Twice the memory that the algorithm itself needs.
  return plain(await scryptAsync(password, salt, length, { ...cost, maxmem: 256 * cost.N * cost.r }));
}

/** AES-256 of complete blocks of 16 bytes, each by itself. */
export async function aesEncrypt(key: Uint8Array, blocks: Uint8Array): Promise<Uint8Array> {
  return plain(createCipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(blocks));
}

/** Reverse of `aesEncrypt`. */
export async function aesDecrypt(key: Uint8Array, blocks: Uint8Array): Promise<Uint8Array> {
  return plain(createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(blocks));
}

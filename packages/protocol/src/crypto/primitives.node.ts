/** Digests and ciphers by the built-in implementation of Node.js (identities.md sections 1 and 10). */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hash,
  scrypt as scryptWithCallback,
} from "node:crypto";
import { promisify } from "node:util";

/** SHA-256 of the bytes: 32 bytes. */
export const sha256 = (data: Uint8Array): Uint8Array => hash("sha256", data, "buffer");

/** RIPEMD-160 of the bytes: 20 bytes. */
export const ripemd160 = (data: Uint8Array): Uint8Array => createHash("ripemd160").update(data).digest();

/** SHA-1 of the bytes: 20 bytes. Exposed for completeness; the protocol does not use it. */
export const sha1 = (data: Uint8Array): Uint8Array => hash("sha1", data, "buffer");

/** Cost of scrypt: `N` a power of two, `r` the block size, `p` the parallelisation. */
export type ScryptCost = { N: number; r: number; p: number };

const scryptAsync = promisify<Uint8Array, Uint8Array, number, object, Buffer>(scryptWithCallback);

/** Key of `length` bytes derived from a password, computed beside the event loop. */
export const scrypt = (
  password: Uint8Array,
  salt: Uint8Array,
  cost: ScryptCost,
  length: number,
): Promise<Uint8Array> =>
  // Twice the memory that the algorithm itself takes.
  scryptAsync(password, salt, length, { ...cost, maxmem: 256 * cost.N * cost.r });

/** AES-256 of whole blocks of 16 bytes, each for itself. */
export async function aesEncrypt(key: Uint8Array, blocks: Uint8Array): Promise<Uint8Array> {
  return createCipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(blocks);
}

/** Reverse of `aesEncrypt`. */
export async function aesDecrypt(key: Uint8Array, blocks: Uint8Array): Promise<Uint8Array> {
  return createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false).update(blocks);
}

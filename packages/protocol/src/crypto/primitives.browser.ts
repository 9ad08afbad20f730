/** The primitives of `primitives.node.ts` for a browser, where `node:crypto` is absent. */
import { scryptAsync } from "@noble/hashes/scrypt.js";
import { sha256 } from "@noble/hashes/sha2.js";

export { ripemd160, sha1 } from "@noble/hashes/legacy.js";
export { sha256 };

const BLOCK = 16;

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export const sha256Hex = (data: Uint8Array): string => toHex(sha256(data));

export function toHex(bytes: Uint8Array, start = 0, end = bytes.length): string {
  let text = "";
  for (let index = start; index < end; index++) text += PAIRS[bytes[index] ?? 0];
  return text;
}

export function fromHex(text: string): Uint8Array {
  const digits = /^(?:[0-9a-fA-F]{2})*/.exec(text)?.[0] ?? "";
  return Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  );
}

export type ScryptCost = { N: number; r: number; p: number };

export const scrypt = (
  password: Uint8Array,
  salt: Uint8Array,
  cost: ScryptCost,
  length: number,
): Promise<Uint8Array> => scryptAsync(password, salt, { ...cost, dkLen: length });

export const aesEncrypt = (key: Uint8Array, blocks: Uint8Array): Promise<Uint8Array> =>
  eachBlock(key, blocks, async (cipher, block) => {
    // One block of CBC without a vector is the block cipher itself; the second one is padding.
    const encrypted = await crypto.subtle.encrypt(cbc(new Uint8Array(BLOCK)), cipher, block);
    return new Uint8Array(encrypted, 0, BLOCK);
  });

export const aesDecrypt = (key: Uint8Array, blocks: Uint8Array): Promise<Uint8Array> =>
  eachBlock(key, blocks, async (cipher, block) => {
    // Decryption requires padding: encrypting nothing after this block gives exactly that.
    const padding = await crypto.subtle.encrypt(cbc(block), cipher, new Uint8Array(0));
    const padded = new Uint8Array(2 * BLOCK);
    padded.set(block);
    padded.set(new Uint8Array(padding), BLOCK);
    return new Uint8Array(await crypto.subtle.decrypt(cbc(new Uint8Array(BLOCK)), cipher, padded));
  });

/** WebCrypto does not accept shared memory. */
type Block = Uint8Array<ArrayBuffer>;
type Cipher = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const cbc = (iv: Block) => ({ name: "AES-CBC", iv });

async function eachBlock(
  key: Uint8Array,
  blocks: Uint8Array,
  transform: (cipher: Cipher, block: Block) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const cipher = await crypto.subtle.importKey("raw", key.slice(), "AES-CBC", false, ["encrypt", "decrypt"]);
  const transformed = new Uint8Array(blocks.length);
  for (let offset = 0; offset < blocks.length; offset += BLOCK) {
    transformed.set(await transform(cipher, blocks.slice(offset, offset + BLOCK)), offset);
  }
  return transformed;
}

/** The primitives of `primitives.node.ts` for a browser, where `node:crypto` is absent. */
import { scryptAsync } from "@noble/hashes/scrypt.js";
import { sha256 } from "@noble/hashes/sha2.js";

export { ripemd160, sha1 } from "@noble/hashes/legacy.js";
export { sha256 };

const BLOCK = 16;

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** A tenth of the size of the package that `primitives.node.ts` uses, and slower. */
export const base58 = {
  encode(bytes: Uint8Array): string {
    let number = 0n;
    for (const byte of bytes) number = number * 256n + BigInt(byte);
    let text = "";
    for (; number > 0n; number /= 58n) text = DIGITS.charAt(Number(number % 58n)) + text;
    const first = bytes.findIndex((byte) => byte !== 0);
    return "1".repeat(first === -1 ? bytes.length : first) + text;
  },

  decode(text: string): Uint8Array {
    let number = 0n;
    for (const letter of text) {
      const digit = DIGITS.indexOf(letter);
      if (digit === -1) throw new Error(`${letter} is not a digit of base58`);
      number = number * 58n + BigInt(digit);
    }
    const bytes: number[] = [];
    for (; number > 0n; number /= 256n) bytes.push(Number(number % 256n));
    for (let index = 0; text[index] === "1"; index++) bytes.push(0);
    return Uint8Array.from(bytes.reverse());
  },
};

export const base58check = {
  encode: (payload: Uint8Array): string =>
    base58.encode(Uint8Array.of(...payload, ...sha256(sha256(payload)).subarray(0, 4))),

  decode(text: string): Uint8Array {
    const payload = base58.decode(text).slice(0, -4);
    if (base58check.encode(payload) !== text) throw new Error("wrong checksum");
    return payload;
  },
};

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

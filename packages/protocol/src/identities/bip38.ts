/**
 * Private keys encrypted with a password, BIP38 (identities.md 10). The password is used as raw UTF-8, without the normalisation
 * of the BIP; to decrypt, its composed form (NFC) is tried as well, which programs that follow the BIP encrypt with.
 */
import { aesDecrypt, aesEncrypt, scrypt } from "#primitives";
import { decodeBase58check, encodeBase58check } from "../crypto/base58check.ts";
import { concatBytes, utf8ToBytes } from "../crypto/bytes.ts";
import { hash160, hash256 } from "../crypto/hashes.ts";
import { backend } from "../crypto/secp256k1.ts";
import { IdentityError } from "./error.ts";
import { keysFromPrivateKey } from "./keys.ts";

const COST = { N: 16384, r: 8, p: 8 };
/** Cost of EC-multiply mode, in which the second derivation starts from a point, not from a password. */
const EC_MULTIPLY_COST = { N: 1024, r: 1, p: 1 };

const PAYLOAD_LENGTH = 39;
const PLAIN = 0x42;
const EC_MULTIPLY = 0x43;
/** Flags that every plain key has. */
const PLAIN_FLAGS = 0xc0;
const COMPRESSED = 0x20;
const LOT_AND_SEQUENCE = 0x04;

/** A private key, and whether its public key is meant to be compressed. */
export type DecryptedKey = { privateKey: Uint8Array; compressed: boolean };

/** Returns true if a text has the structure of an encrypted key, which a passphrase does not have. */
export const isBip38 = (text: string): boolean => payloadOf(text) !== undefined;

/**
 * The encrypted key as text, type 0142.
 *
 * @throws {IdentityError} INVALID_PRIVATE_KEY
 */
export async function encryptBip38(
  privateKey: Uint8Array,
  password: string,
  compressed = true,
): Promise<string> {
  const salt = saltOf(privateKey, compressed);
  const derived = await scrypt(utf8ToBytes(password), salt, COST, 64);
  const encrypted = await aesEncrypt(derived.subarray(32), xor(privateKey, derived.subarray(0, 32)));
  const flags = compressed ? PLAIN_FLAGS | COMPRESSED : PLAIN_FLAGS;
  return encodeBase58check(concatBytes(Uint8Array.of(0x01, PLAIN, flags), salt, encrypted));
}

/**
 * The key inside an encrypted text. In EC-multiply mode a wrong password is not detected.
 *
 * @throws {IdentityError} INVALID_BIP38, WRONG_PASSWORD, INVALID_PRIVATE_KEY
 */
export async function decryptBip38(text: string, password: string): Promise<DecryptedKey> {
  const payload = payloadOf(text);
  if (!payload) throw new IdentityError("INVALID_BIP38", "the text is not a BIP38 key");
  const compressed = (flagsOf(payload) & COMPRESSED) !== 0;
  if (payload[1] === EC_MULTIPLY) {
    return { privateKey: await decryptEcMultiply(payload, utf8ToBytes(password)), compressed };
  }
  for (const form of new Set([password, password.normalize("NFC")])) {
    const privateKey = await decryptPlain(payload, utf8ToBytes(form));
    if (equal(saltOf(privateKey, compressed), payload.subarray(3, 7))) return { privateKey, compressed };
  }
  throw new IdentityError("WRONG_PASSWORD", "wrong password for the BIP38 key");
}

/** Payload: 01 42, flags, salt (4), encrypted key (32). */
async function decryptPlain(payload: Uint8Array, password: Uint8Array): Promise<Uint8Array> {
  const derived = await scrypt(password, payload.subarray(3, 7), COST, 64);
  return xor(await aesDecrypt(derived.subarray(32), payload.subarray(7)), derived.subarray(0, 32));
}

/** Payload: 01 43, flags, address hash (4), owner entropy (8), half of part 1 (8), part 2 (16). */
async function decryptEcMultiply(payload: Uint8Array, password: Uint8Array): Promise<Uint8Array> {
  const addressHash = payload.subarray(3, 7);
  const ownerEntropy = payload.subarray(7, 15);
  const hasLot = (flagsOf(payload) & LOT_AND_SEQUENCE) !== 0;

  // passfactor, by way of a prefactor where lot and sequence numbers are inside the entropy
  const ownerSalt = hasLot ? ownerEntropy.subarray(0, 4) : ownerEntropy;
  const prefactor = await scrypt(password, ownerSalt, COST, 32);
  const passFactor = hasLot ? hash256(concatBytes(prefactor, ownerEntropy)) : prefactor;
  const passPoint = keysFromPrivateKey(passFactor).publicKey;

  // part 2 holds the second half of part 1, then part 1 and part 2 together hold the seed
  const derived = await scrypt(passPoint, concatBytes(addressHash, ownerEntropy), EC_MULTIPLY_COST, 64);
  const key = derived.subarray(32);
  const part2 = xor(await aesDecrypt(key, payload.subarray(23)), derived.subarray(16, 32));
  const encryptedPart1 = concatBytes(payload.subarray(15, 23), part2.subarray(0, 8));
  const part1 = xor(await aesDecrypt(key, encryptedPart1), derived.subarray(0, 16));

  // private key = passfactor * HH(seed) modulo n
  const factor = hash256(concatBytes(part1, part2.subarray(8)));
  const privateKey = backend.mulTweakPrivateKey(passFactor, factor);
  if (typeof privateKey === "string") throw new IdentityError("INVALID_PRIVATE_KEY", privateKey);
  return privateKey;
}

function payloadOf(text: string): Uint8Array | undefined {
  let payload: Uint8Array;
  try {
    payload = decodeBase58check(text);
  } catch {
    return undefined;
  }
  const [first, type, flags = 0] = payload;
  if (payload.length !== PAYLOAD_LENGTH || first !== 0x01) return undefined;
  const isPlain = type === PLAIN && (flags & ~COMPRESSED) === PLAIN_FLAGS;
  const isEcMultiply = type === EC_MULTIPLY && (flags & ~(COMPRESSED | LOT_AND_SEQUENCE)) === 0;
  return isPlain || isEcMultiply ? payload : undefined;
}

const flagsOf = ([, , flags = 0]: Uint8Array): number => flags;

/** First four bytes of HH of the key's Bitcoin address: version byte 0, hash160. */
function saltOf(privateKey: Uint8Array, compressed: boolean): Uint8Array {
  const { publicKey } = keysFromPrivateKey(privateKey, compressed);
  const address = encodeBase58check(concatBytes(Uint8Array.of(0x00), hash160(publicKey)));
  return hash256(utf8ToBytes(address)).subarray(0, 4);
}

const xor = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((byte, index) => byte ^ (b[index] ?? 0));

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, index) => byte === b[index]);

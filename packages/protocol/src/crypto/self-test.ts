/** Test that another backend returns the results of the default one, before it is used. */
import { present } from "../present.ts";
import { bytesToHex, concatBytes, hexToBytes } from "./bytes.ts";
import { sha256 } from "./hashes.ts";
import { FIELD_PRIME, ORDER, requireBytes, backend as secp256k1 } from "./secp256k1.ts";
import {
  defaultSignatureBackend,
  type SignatureBackend,
  signEcdsa,
  signSchnorr,
  verifyEcdsa,
  verifySchnorr,
} from "./signatures.ts";

type Verify = typeof verifyEcdsa;
type Case = { name: string; verify: Verify; hash: Uint8Array; signature: Uint8Array; publicKey: Uint8Array };

/** A signature of the test, with the verdict of the default backend. */
export type SelfTestCase = {
  readonly name: string;
  readonly scheme: "ecdsa" | "schnorr";
  readonly hash: Uint8Array;
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly isValid: boolean;
};

/** Enough for both cases of y(R), of the leading bit and of the key. */
const ROUNDS = 8;
const TOP = 2n ** 256n - 1n;

/**
 * Verifies valid signatures and every kind of invalid ones with a backend and with the default. Takes about 30 ms.
 *
 * @returns the name of the first case with different results, or undefined if they agree
 */
export function disagreementOf(candidate: SignatureBackend): string | undefined {
  for (const test of cases()) {
    if (verdictOf(test, candidate) !== defaultVerdictOf(test)) return test.name;
  }
  return undefined;
}

/**
 * Returns the cases that `disagreementOf` verifies, for tests of backends where the default one is not
 * available.
 */
export const selfTestCases = (): SelfTestCase[] =>
  [...cases()].map((test) => {
    const { verify, ...shown } = test;
    const scheme = verify === verifyEcdsa ? "ecdsa" : "schnorr";
    return { ...shown, scheme, isValid: defaultVerdictOf(test) };
  });

function* cases(): Iterable<Case> {
  for (let round = 0; round < ROUNDS; round++) yield* casesOf(round);
}

const defaultVerdictOf = ({ verify, hash, signature, publicKey }: Case): boolean =>
  verify(hash, signature, publicKey, defaultSignatureBackend);

/** Undefined, which equals no result, if the backend throws. */
function verdictOf(test: Case, candidate: SignatureBackend): boolean | undefined {
  try {
    return test.verify(test.hash, test.signature, test.publicKey, candidate);
  } catch {
    return undefined;
  }
}

function casesOf(round: number): Case[] {
  const privateKey = sha256(Uint8Array.of(round));
  const hash = round === 0 ? bytes32(TOP) : sha256(privateKey);
  const publicKey = requireBytes(secp256k1.derivePublicKeyCompressed(privateKey));
  return [
    ...schemeCases("ecdsa", verifyEcdsa, { hash, publicKey, signature: signEcdsa(hash, privateKey) }),
    ...ecdsaCases(hash, publicKey, signEcdsa(hash, privateKey)),
    ...schemeCases("schnorr", verifySchnorr, { hash, publicKey, signature: signSchnorr(hash, privateKey) }),
    ...schnorrCases(hash, publicKey, signSchnorr(hash, privateKey), toInteger(privateKey)),
  ];
}

/** Cases for both schemes: forms of the key, and a flipped bit. */
function schemeCases(scheme: string, verify: Verify, good: Omit<Case, "name" | "verify">): Case[] {
  const { hash, publicKey, signature } = good;
  const uncompressed = requireBytes(secp256k1.uncompressPublicKey(publicKey));
  const variants: Record<string, Partial<Case>> = {
    "a valid signature": {},
    "another hash": { hash: flip(hash, 31) },
    "an altered r": { signature: flip(signature, 20) },
    "an altered s": { signature: flip(signature, signature.length - 1) },
    "an uncompressed key": { publicKey: uncompressed },
    "a hybrid key": { publicKey: withFirst(uncompressed, 6 + (byteAt(uncompressed, 64) & 1)) },
    "a hybrid key of the wrong parity": {
      publicKey: withFirst(uncompressed, 7 - (byteAt(uncompressed, 64) & 1)),
    },
    "an uncompressed key off the curve": { publicKey: flip(uncompressed, 64) },
    "the opposite key": { publicKey: flip(publicKey, 0) },
    "a compressed key that may be off the curve": { publicKey: flip(publicKey, 32) },
    "a key without a point": { publicKey: withFirst(publicKey, 5) },
    "a key beyond the field": { publicKey: concatBytes(Uint8Array.of(2), bytes32(FIELD_PRIME + 1n)) },
  };
  return Object.entries(variants).map(([name, variant]) => ({
    ...good,
    ...variant,
    name: `${scheme}: ${name}`,
    verify,
  }));
}

function ecdsaCases(hash: Uint8Array, publicKey: Uint8Array, signature: Uint8Array): Case[] {
  const sAt = 4 + byteAt(signature, 3);
  const r = toInteger(signature.subarray(4, sAt));
  const s = toInteger(signature.subarray(sAt + 2));
  const variants: Record<string, Uint8Array> = {
    "a high s": der(r, ORDER - s),
    "s at half of the order": der(r, ORDER / 2n),
    "s beyond the order": der(r, s + ORDER),
    "s equal to the order": der(r, ORDER),
    "r equal to the order": der(ORDER, s),
    "the greatest r": der(TOP, s),
  };
  return Object.entries(variants).map(([name, variant]) => ({
    name: `ecdsa: ${name}`,
    verify: verifyEcdsa,
    hash,
    publicKey,
    signature: variant,
  }));
}

function schnorrCases(hash: Uint8Array, publicKey: Uint8Array, signature: Uint8Array, d: bigint): Case[] {
  const rx = signature.subarray(0, 32);
  const s = toInteger(signature.subarray(32));
  const e = toInteger(sha256(concatBytes(rx, publicKey, hash)));
  const beyond = bytes32(FIELD_PRIME);
  const variants: Record<string, Uint8Array> = {
    // The same x of R, but a y that is not a square; BIP-340 would check if it is even.
    "the opposite nonce": concatBytes(rx, bytes32((((2n * e * d - s) % ORDER) + ORDER) % ORDER)),
    "R at infinity": concatBytes(rx, bytes32((e * d) % ORDER)),
    "s of zero": concatBytes(rx, new Uint8Array(32)),
    "s equal to the order": concatBytes(rx, bytes32(ORDER)),
    "the greatest s": concatBytes(rx, bytes32(TOP)),
    "r of zero": concatBytes(new Uint8Array(32), signature.subarray(32)),
    "r equal to the prime": concatBytes(beyond, signature.subarray(32)),
    "the greatest r": concatBytes(bytes32(TOP), signature.subarray(32)),
  };
  return Object.entries(variants).map(([name, variant]) => ({
    name: `schnorr: ${name}`,
    verify: verifySchnorr,
    hash,
    publicKey,
    signature: variant,
  }));
}

/** Strict DER of two positive integers below 2^263. */
function der(r: bigint, s: bigint): Uint8Array {
  const body = concatBytes(derInteger(r), derInteger(s));
  return concatBytes(Uint8Array.of(0x30, body.length), body);
}

function derInteger(value: bigint): Uint8Array {
  const digits = value.toString(16);
  const bytes = hexToBytes(digits.length % 2 === 0 ? digits : `0${digits}`);
  const minimal = byteAt(bytes, 0) > 0x7f ? concatBytes(Uint8Array.of(0), bytes) : bytes;
  return concatBytes(Uint8Array.of(0x02, minimal.length), minimal);
}

const byteAt = (bytes: Uint8Array, index: number): number => present(bytes[index], `byte ${index}`);

function flip(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.map((byte, at) => (at === index ? byte ^ 1 : byte));
}

function withFirst(bytes: Uint8Array, first: number): Uint8Array {
  return bytes.map((byte, at) => (at === 0 ? first : byte));
}

const toInteger = (bytes: Uint8Array): bigint => BigInt(`0x${bytesToHex(bytes)}`);
const bytes32 = (value: bigint): Uint8Array => hexToBytes(value.toString(16).padStart(64, "0"));

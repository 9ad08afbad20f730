/** Points of secp256k1. Addition is rare enough for plain integers: the fast backend has no such operation. */
import { bytesToHex, hexToBytes } from "./bytes.ts";
import { backend, FIELD_PRIME } from "./secp256k1.ts";

type Point = { x: bigint; y: bigint };

/**
 * Returns the 65-byte form of a compressed key: verifying with it gives the same verdicts without a square
 * root each time.
 *
 * @returns undefined if it is not a point
 */
export function uncompressPublicKey(publicKey: Uint8Array): Uint8Array | undefined {
  const bytes = backend.uncompressPublicKey(publicKey);
  return typeof bytes === "string" ? undefined : bytes;
}

/**
 * Returns the compressed sum of compressed points.
 *
 * @returns undefined if one of them is not a point, or the sum is the point at infinity
 */
export function addPublicKeys(publicKeys: readonly Uint8Array[]): Uint8Array | undefined {
  let sum: Point | undefined;
  for (const publicKey of publicKeys) {
    const bytes = uncompressPublicKey(publicKey);
    if (!bytes) return undefined;
    sum = add(sum, { x: toInteger(bytes.subarray(1, 33)), y: toInteger(bytes.subarray(33)) });
  }
  if (!sum) return undefined;
  return hexToBytes((sum.y % 2n === 0n ? "02" : "03") + sum.x.toString(16).padStart(64, "0"));
}

/** The chord and tangent rule; undefined is the point at infinity. */
function add(a: Point | undefined, b: Point): Point | undefined {
  if (!a) return b;
  if (a.x === b.x && a.y !== b.y) return undefined;
  const slope =
    a.x === b.x ? modulo(3n * a.x * a.x * inverse(2n * a.y)) : modulo((b.y - a.y) * inverse(b.x - a.x));
  const x = modulo(slope * slope - a.x - b.x);
  return { x, y: modulo(slope * (a.x - x) - a.y) };
}

/** Extended Euclidean algorithm modulo the prime of the field. */
function inverse(value: bigint): bigint {
  let [remainder, next] = [FIELD_PRIME, modulo(value)];
  let [coefficient, nextCoefficient] = [0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [coefficient, nextCoefficient] = [nextCoefficient, coefficient - quotient * nextCoefficient];
  }
  return modulo(coefficient);
}

function modulo(value: bigint): bigint {
  const remainder = value % FIELD_PRIME;
  return remainder < 0n ? remainder + FIELD_PRIME : remainder;
}

const toInteger = (bytes: Uint8Array): bigint => BigInt(`0x${bytesToHex(bytes)}`);

/** The equations of identities.md 6 and 7 in plain integers: slow, and independent of the backend. */

import { bytesToHex, concatBytes, hexToBytes, sha256 } from "../src/index.ts";
import { present } from "../src/present.ts";

export const P = 2n ** 256n - 2n ** 32n - 977n;
export const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
export const G: Point = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

/** `undefined` is the point at infinity. */
export type Point = { x: bigint; y: bigint } | undefined;

const mod = (value: bigint, modulus: bigint) => ((value % modulus) + modulus) % modulus;

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let b = mod(base, modulus), e = exponent; e > 0n; e >>= 1n, b = (b * b) % modulus) {
    if (e & 1n) result = (result * b) % modulus;
  }
  return result;
}

/** Extended Euclidean algorithm. */
export function inverse(value: bigint, modulus: bigint): bigint {
  let [remainder, next, coefficient, nextCoefficient] = [modulus, mod(value, modulus), 0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [coefficient, nextCoefficient] = [nextCoefficient, coefficient - quotient * nextCoefficient];
  }
  return mod(coefficient, modulus);
}

export function add(a: Point, b: Point): Point {
  if (!a) return b;
  if (!b) return a;
  if (a.x === b.x && mod(a.y + b.y, P) === 0n) return undefined;
  const slope =
    a.x === b.x ? 3n * a.x * a.x * inverse(2n * a.y, P) : (b.y - a.y) * inverse(mod(b.x - a.x, P), P);
  const x = mod(slope * slope - a.x - b.x, P);
  return { x, y: mod(slope * (a.x - x) - a.y, P) };
}

export function multiply(point: Point, scalar: bigint): Point {
  let sum: Point;
  for (let p = point, k = mod(scalar, N); k > 0n; k >>= 1n, p = add(p, p)) if (k & 1n) sum = add(sum, p);
  return sum;
}

/** Point with an abscissa and an even ordinate, if there is one. */
export function lift(x: bigint): Point {
  const y = power(x ** 3n + 7n, (P + 1n) / 4n, P);
  if (mod(y * y - x ** 3n - 7n, P) !== 0n) return undefined;
  return { x, y: y % 2n === 0n ? y : P - y };
}

export const toInteger = (bytes: Uint8Array) => BigInt(`0x${bytesToHex(bytes)}`);
export const bytes32 = (value: bigint) => hexToBytes(value.toString(16).padStart(64, "0"));

export const compress = (point: Point) =>
  concatBytes(
    Uint8Array.of(present(point, "point").y % 2n === 0n ? 2 : 3),
    bytes32(present(point, "point").x),
  );

export function decompress(bytes: Uint8Array): Point {
  const point = lift(toInteger(bytes.subarray(1)));
  return point && bytes[0] === 3 ? { x: point.x, y: P - point.y } : point;
}

/** DER with minimal integers and no other defect. */
export function der(r: bigint, s: bigint): Uint8Array {
  const integer = (value: bigint) => {
    const digits = value.toString(16);
    const even = digits.length % 2 === 0 ? digits : `0${digits}`;
    const body = hexToBytes(even >= "80" ? `00${even}` : even);
    return concatBytes(Uint8Array.of(2, body.length), body);
  };
  const body = concatBytes(integer(r), integer(s));
  return concatBytes(Uint8Array.of(0x30, body.length), body);
}

export function isEcdsa(hash: Uint8Array, r: bigint, s: bigint, key: Uint8Array): boolean {
  if (r <= 0n || r >= N || s <= 0n || s > N / 2n) return false;
  const w = inverse(s, N);
  const sum = add(multiply(G, toInteger(hash) * w), multiply(decompress(key), r * w));
  return sum !== undefined && sum.x % N === r;
}

export function isSchnorr(hash: Uint8Array, signature: Uint8Array, key: Uint8Array): boolean {
  const [r, s] = [toInteger(signature.subarray(0, 32)), toInteger(signature.subarray(32))];
  if (r >= P || s >= N) return false;
  const e = toInteger(sha256(concatBytes(bytes32(r), key, hash))) % N;
  const point = add(multiply(G, s), multiply(decompress(key), N - e));
  return point !== undefined && power(point.y, (P - 1n) / 2n, P) === 1n && point.x === r;
}

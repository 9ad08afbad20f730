import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatBytes, keysFromPassphrase, sha256, signSchnorr, verifySchnorr } from "../../src/index.ts";
import { present } from "../../src/present.ts";
import { bytes32, G, isSchnorr, multiply, N, P, power, toInteger } from "../../test-support/arithmetic.ts";

const { privateKey, publicKey } = keysFromPassphrase("key");
const hash = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.constantFrom(0n, N - 1n, N, N + 1n, P, 2n ** 256n - 1n).map(bytes32),
);

/** Signature with a chosen nonce, whether or not y(R) is a square. */
function signWith(k: bigint, hash: Uint8Array): Uint8Array {
  const rx = bytes32(present(multiply(G, k), "the result of multiply").x);
  const e = toInteger(sha256(concatBytes(rx, publicKey, hash))) % N;
  return concatBytes(rx, bytes32((k + e * toInteger(privateKey)) % N));
}

describe("Schnorr (identities.md 7)", () => {
  test("Property: Schnorr signatures satisfy the equation and are deterministic.", () => {
    fc.assert(
      fc.property(hash, (hash) => {
        const signature = signSchnorr(hash, privateKey);
        expect(signature).toHaveLength(64);
        expect(isSchnorr(hash, signature, publicKey)).toBe(true);
        expect(verifySchnorr(hash, signature, publicKey)).toBe(true);
        expect(signSchnorr(hash, privateKey)).toEqual(signature);
      }),
      { numRuns: 10 },
    );
  });

  test("Property: any other nonce of a Schnorr signature is valid, as long as y(R) is a square.", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, N - 1n), (k) => {
        const isSquare = power(present(multiply(G, k), "the result of multiply").y, (P - 1n) / 2n, P) === 1n;
        expect(verifySchnorr(bytes32(5n), signWith(k, bytes32(5n)), publicKey)).toBe(isSquare);
        expect(verifySchnorr(bytes32(5n), signWith(N - k, bytes32(5n)), publicKey)).toBe(!isSquare);
      }),
      { numRuns: 10 },
    );
  });

  test("Property: no bit of hash, Schnorr signature or key can be changed.", () => {
    const parts = [bytes32(5n), signSchnorr(bytes32(5n), privateKey), publicKey] as const;
    fc.assert(
      fc.property(fc.nat(2), fc.nat(), (part, bit) => {
        const altered = parts.map((bytes) => bytes.slice()) as [Uint8Array, Uint8Array, Uint8Array];
        const bytes = present(altered[part], "an altered part");
        const at = (bit >> 3) % bytes.length;
        bytes[at] = present(bytes[at], "an altered byte") ^ (1 << (bit & 7));
        expect(verifySchnorr(...altered)).toBe(false);
      }),
    );
  });

  test("Property: no bytes make Schnorr throw.", () => {
    const bytes = fc.uint8Array({ maxLength: 130 });
    fc.assert(
      fc.property(bytes, bytes, bytes, (hash, signature, key) => {
        expect(verifySchnorr(hash, signature, key)).toBe(false);
      }),
    );
  });

  test("Values r and s out of range are refused.", () => {
    const signature = signSchnorr(bytes32(5n), privateKey);
    const s = toInteger(signature.subarray(32));
    const verify = (rx: Uint8Array, s: bigint) =>
      verifySchnorr(bytes32(5n), concatBytes(rx, bytes32(s)), publicKey);
    expect(verify(signature.subarray(0, 32), s)).toBe(true);
    if (s + N < 2n ** 256n) expect(verify(signature.subarray(0, 32), s + N)).toBe(false);
    for (const r of [0n, P, 2n ** 256n - 1n]) expect(verify(bytes32(r), s), `${r}`).toBe(false);
    for (const s of [0n, N, 2n ** 256n - 1n]) {
      expect(verify(signature.subarray(0, 32), s), `${s}`).toBe(false);
    }
  });

  test("A hash or private key of another length, or out of range, is refused.", () => {
    expect(() => signSchnorr(new Uint8Array(33), privateKey)).toThrow(RangeError);
    expect(() => signSchnorr(bytes32(5n), new Uint8Array(31))).toThrow(RangeError);
    expect(() => signSchnorr(bytes32(5n), bytes32(0n))).toThrow(RangeError);
    expect(() => signSchnorr(bytes32(5n), bytes32(N))).toThrow(RangeError);
  });
});

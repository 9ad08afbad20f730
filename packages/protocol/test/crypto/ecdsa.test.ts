import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatBytes, keysFromPassphrase, signEcdsa, verifyEcdsa } from "../../src/index.ts";
import { present } from "../../src/present.ts";
import {
  add,
  bytes32,
  compress,
  der,
  G,
  inverse,
  isEcdsa,
  lift,
  multiply,
  N,
} from "../../test-support/arithmetic.ts";

const { privateKey, publicKey } = keysFromPassphrase("key");
const hash = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  // Around the order of the group, where a hash is reduced.
  fc.bigInt(N - 2n, N + 2n).map(bytes32),
  fc.constantFrom(bytes32(0n), bytes32(2n ** 256n - 1n)),
);

/** Both integers of a DER signature. */
function integersOf(signature: Uint8Array): [bigint, bigint] {
  const rLength = present(signature[3], "an item of signature");
  const integer = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  return [integer(signature.subarray(4, 4 + rLength)), integer(signature.subarray(6 + rLength))];
}

describe("ECDSA (identities.md 6)", () => {
  test("Property: ECDSA signatures satisfy the equation, have a low s, and are deterministic.", () => {
    fc.assert(
      fc.property(hash, (hash) => {
        const signature = signEcdsa(hash, privateKey);
        const [r, s] = integersOf(signature);
        expect(signature).toEqual(der(r, s));
        expect(isEcdsa(hash, r, s, publicKey)).toBe(true);
        expect(verifyEcdsa(hash, signature, publicKey)).toBe(true);
        expect(signEcdsa(hash, privateKey)).toEqual(signature);
        // The other solution of the same equation, with a high s.
        expect(verifyEcdsa(hash, der(r, N - s), publicKey)).toBe(false);
      }),
      { numRuns: 10 },
    );
  });

  test("Property: the verdict of ECDSA is the equation's for any pair of integers.", () => {
    const [r, s] = integersOf(signEcdsa(bytes32(5n), privateKey));
    const integer = fc.oneof(
      fc.constantFrom(r, s, 0n, 1n, N - 1n, N, N + 1n, r + N, N / 2n, N / 2n + 1n, 2n ** 256n - 1n),
      fc.bigInt(0n, N),
    );
    fc.assert(
      fc.property(integer, integer, (r, s) => {
        const key = publicKey;
        expect(verifyEcdsa(bytes32(5n), der(r, s), key)).toBe(isEcdsa(bytes32(5n), r, s, key));
      }),
      { numRuns: 40 },
    );
  });

  test("Property: no byte of an ECDSA signature can be changed, added or removed.", () => {
    const signature = signEcdsa(bytes32(5n), privateKey);
    const verify = (altered: Uint8Array) => verifyEcdsa(bytes32(5n), altered, publicKey);
    fc.assert(
      fc.property(fc.nat(signature.length - 1), fc.integer({ min: 1, max: 255 }), (at, difference) => {
        const changed = signature.slice();
        changed[at] = present(changed[at], "an item of changed") ^ difference;
        expect(verify(changed)).toBe(false);
        expect(verify(concatBytes(signature.subarray(0, at), signature.subarray(at + 1)))).toBe(false);
        const byte = Uint8Array.of(difference);
        expect(verify(concatBytes(signature.subarray(0, at), byte, signature.subarray(at)))).toBe(false);
      }),
    );
  });

  test("Property: no bytes make ECDSA throw.", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 140 }),
      fc.uint8Array({ maxLength: 80 }).map((tail) => concatBytes(Uint8Array.of(0x30, tail.length), tail)),
    );
    fc.assert(
      fc.property(bytes, fc.uint8Array({ maxLength: 66 }), (signature, key) => {
        expect(verifyEcdsa(bytes32(5n), signature, publicKey)).toBe(false);
        expect(verifyEcdsa(bytes32(5n), signEcdsa(bytes32(5n), privateKey), key)).toBe(false);
        expect(verifyEcdsa(signature, signEcdsa(bytes32(5n), privateKey), publicKey)).toBe(false);
      }),
    );
  });

  test("The value r is the abscissa of R modulo the order, even if the abscissa is not below it.", () => {
    // An abscissa between the order and the prime never occurs by chance, but a key can be made for it:
    // for any u1 and u2, P = (R - u1*G) / u2 has the signature r = x(R) - n, s = r / u2 of the hash u1*s.
    let x = N + 1n;
    while (!lift(x)) x++;
    const r = x - N;
    const minusU1G = multiply(G, N - 3n);
    const key = (u2: bigint) => compress(multiply(add(lift(x), minusU1G), inverse(u2, N)));
    const sOf = (u2: bigint) => (r * inverse(u2, N)) % N;
    let u2 = 2n;
    while (sOf(u2) > N / 2n) u2++;
    const hash = bytes32((3n * sOf(u2)) % N);
    expect(isEcdsa(hash, r, sOf(u2), key(u2))).toBe(true);
    expect(verifyEcdsa(hash, der(r, sOf(u2)), key(u2))).toBe(true);
    expect(verifyEcdsa(hash, der(r + 1n, sOf(u2)), key(u2))).toBe(false);
  });

  test("A hash or private key of another length, or out of range, is refused.", () => {
    expect(() => signEcdsa(new Uint8Array(33), privateKey)).toThrow(RangeError);
    expect(() => signEcdsa(bytes32(5n), new Uint8Array(31))).toThrow(RangeError);
    expect(() => signEcdsa(bytes32(5n), bytes32(0n))).toThrow(RangeError);
    expect(() => signEcdsa(bytes32(5n), bytes32(N))).toThrow(RangeError);
  });
});

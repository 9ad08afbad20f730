/** The curve of a browser returns the bytes and the verdicts of that of Node.js. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { curve as browser } from "../../src/crypto/curve.browser.ts";
import { type Curve, curve as node } from "../../src/crypto/curve.node.ts";
import { disagreementOf, hexToBytes } from "../../src/index.ts";
import { bytes32, N, P, toInteger } from "../../test-support/arithmetic.ts";

const vectors = (name: string): { hash: string; signature: string; publicKey: string }[] =>
  JSON.parse(readFileSync(new URL(`../../../../test/vectors/crypto/${name}.json`, import.meta.url), "utf8"))
    .cases;

/** Scalars within the range and at its limits. */
const scalar = fc.oneof(
  fc.uint8Array({ minLength: 32, maxLength: 32 }),
  fc.constantFrom(0n, 1n, 2n, N - 2n, N - 1n, N, N + 1n, P, 2n ** 256n - 1n).map(bytes32),
);

/** Bytes unchanged; every text is a refusal. */
const outcome = (result: Uint8Array | string) => (typeof result === "string" ? "refused" : [...result]);

function expectSame(ask: (curve: Curve) => Uint8Array | string): void {
  expect(outcome(ask(browser))).toEqual(outcome(ask(node)));
}

describe("The curve of a browser", () => {
  test("The curve of a browser creates the same keys, sums, products and signatures.", () => {
    fc.assert(
      fc.property(scalar, scalar, (key, other) => {
        expect(browser.validatePrivateKey(key)).toBe(node.validatePrivateKey(key));
        // Invalid keys are not used otherwise.
        if (!node.validatePrivateKey(key)) return;
        expectSame((curve) => curve.derivePublicKeyCompressed(key));
        expectSame((curve) => curve.derivePublicKeyUncompressed(key));
        expectSame((curve) => curve.addTweakPrivateKey(key, other));
        expectSame((curve) => curve.mulTweakPrivateKey(key, other));
        // Beyond the order, which a digest of SHA-256 is one time in 2^128, both sign, with another nonce each.
        if (toInteger(other) < N) expectSame((curve) => curve.signMessageHashDER(key, other));
      }),
      { numRuns: 60 },
    );
  });

  test("The curve of a browser reads the same keys in all their forms.", () => {
    for (const { publicKey } of [...vectors("ecdsa"), ...vectors("schnorr")]) {
      expectSame((curve) => curve.uncompressPublicKey(hexToBytes(publicKey)));
    }
  });

  test("The curve of a browser returns the same verdicts on signatures of every kind.", () => {
    expect(
      disagreementOf({
        name: "browser",
        verifyEcdsa: (hash, signature, key) => browser.verifySignatureDERLowS(signature, key, hash),
        verifySchnorr: (hash, signature, key) => browser.verifySignatureSchnorr(signature, key, hash),
      }),
    ).toBeUndefined();
    for (const { hash, signature, publicKey } of vectors("schnorr")) {
      if (signature.length !== 128) continue;
      const input = [hexToBytes(signature), hexToBytes(publicKey), hexToBytes(hash)] as const;
      expect(browser.verifySignatureSchnorr(...input)).toBe(node.verifySignatureSchnorr(...input));
    }
  });
});

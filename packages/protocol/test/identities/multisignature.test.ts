import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { curve } from "../../src/crypto/curve.node.ts";
import { addPublicKeys } from "../../src/crypto/points.ts";
import { bytesToHex, keysFromPassphrase, multiSignaturePublicKey } from "../../src/index.ts";
import { present } from "../../src/present.ts";

const keyOf = (name: string) => bytesToHex(keysFromPassphrase(name).publicKey);
const [a, b, c] = [keyOf("a"), keyOf("b"), keyOf("c")];

const withCode = (code: string) => expect.objectContaining({ name: "IdentityError", code });

describe("multi-signature wallet", () => {
  test("A multi-signature wallet is independent of order and letter case, but not of the required number.", () => {
    const wallet = multiSignaturePublicKey({ min: 2, publicKeys: [a, b, c] });
    expect(multiSignaturePublicKey({ min: 2, publicKeys: [c.toUpperCase(), a, b] })).toBe(wallet);
    expect(multiSignaturePublicKey({ min: 3, publicKeys: [a, b, c] })).not.toBe(wallet);
  });

  test("A repeated key counts twice.", () => {
    const wallets = [[a], [a, a], [a, a, a]].map((publicKeys) =>
      multiSignaturePublicKey({ min: 1, publicKeys }),
    );
    expect(new Set(wallets).size).toBe(3);
  });

  test.each([0, -1, 3, 1.5, Number.NaN])("%s signatures of two keys are refused", (min) => {
    expect(() => multiSignaturePublicKey({ min, publicKeys: [a, b] })).toThrow(
      withCode("InvalidMultiSignatureAssetError"),
    );
  });

  test("255 signatures can be required, 256 cannot be written", () => {
    const publicKeys = Array.from({ length: 300 }, () => a);
    expect(multiSignaturePublicKey({ min: 255, publicKeys })).toHaveLength(66);
    expect(() => multiSignaturePublicKey({ min: 256, publicKeys })).toThrow(
      withCode("InvalidMultiSignatureAssetError"),
    );
  });

  test("An empty list of keys, or digits that are not a key, are refused.", () => {
    const of = (...publicKeys: string[]) => multiSignaturePublicKey({ min: 1, publicKeys });
    expect(() => of()).toThrow(withCode("InvalidMultiSignatureAssetError"));
    expect(() => of(a.slice(2))).toThrow(withCode("PublicKeyError"));
    expect(() => of(a, "ff".repeat(33))).toThrow(withCode("INVALID_POINT"));
  });

  test("A sum at infinity has no wallet.", () => {
    const opposite = keyOf("01").replace(/^0[23]/, (prefix) => (prefix === "02" ? "03" : "02"));
    expect(() => multiSignaturePublicKey({ min: 1, publicKeys: [opposite] })).toThrow(
      withCode("INVALID_POINT"),
    );
    // An intermediate sum at infinity is allowed.
    expect(multiSignaturePublicKey({ min: 1, publicKeys: [opposite, a] })).toBe(a);
  });
});

test("Property: the sum of points is the point of the sum.", () => {
  const privateKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter(curve.validatePrivateKey);
  fc.assert(
    fc.property(privateKey, privateKey, (x, y) => {
      const sum = curve.addTweakPrivateKey(x, y);
      fc.pre(typeof sum !== "string");
      const points = [x, y].map((key) => curve.derivePublicKeyCompressed(key) as Uint8Array);
      expect(addPublicKeys(points)).toEqual(curve.derivePublicKeyCompressed(sum));
      expect(
        addPublicKeys([present(points[0], "an item of points"), present(points[0], "an item of points")]),
      ).toEqual(
        curve.mulTweakPublicKeyCompressed(
          present(points[0], "an item of points"),
          Uint8Array.of(...new Uint8Array(31), 2),
        ),
      );
    }),
    { numRuns: 30 },
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addressFromPublicKey,
  bytesToHex,
  decodeAddress,
  decodeWif,
  encodeBase58check,
  encodeWif,
  IdentityError,
  isAddress,
  isPublicKey,
  keysFromPassphrase,
  keysFromPrivateKey,
  signMessage,
  verifyMessage,
} from "../../src/index.ts";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const scalar = (value: bigint) => Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));

const withCode = (code: string) => expect.objectContaining({ name: "IdentityError", code });

describe("keys", () => {
  test("A passphrase is neither trimmed nor normalised.", () => {
    const passphrases = ["café", "cafe\u0301", "café ", "Café", ""];
    const keys = passphrases.map((passphrase) => bytesToHex(keysFromPassphrase(passphrase).privateKey));
    expect(new Set(keys).size).toBe(passphrases.length);
  });

  test("A lone surrogate is read as U+FFFD.", () => {
    expect(keysFromPassphrase("\ud800")).toEqual(keysFromPassphrase("\ufffd"));
  });

  test.each([
    ["zero", scalar(0n)],
    ["the order", scalar(ORDER)],
    ["above the order", scalar(ORDER + 1n)],
    ["31 bytes", new Uint8Array(31).fill(1)],
    ["33 bytes", new Uint8Array(33).fill(1)],
  ])("%s is not a private key", (_, privateKey) => {
    expect(() => keysFromPrivateKey(privateKey)).toThrow(withCode("INVALID_PRIVATE_KEY"));
  });

  test("An uncompressed key has 65 bytes.", () => {
    const { publicKey } = keysFromPrivateKey(scalar(1n), false);
    expect(publicKey).toHaveLength(65);
    expect(publicKey[0]).toBe(0x04);
  });
});

describe("addresses", () => {
  const publicKey = bytesToHex(keysFromPassphrase("address").publicKey);

  test("The letter case of the key does not matter to its address.", () => {
    expect(addressFromPublicKey(publicKey.toUpperCase(), 68)).toBe(addressFromPublicKey(publicKey, 68));
  });

  test.each([0, -1, 256, 1.5, Number.NaN])("An address of version %s is refused.", (version) => {
    expect(() => addressFromPublicKey(publicKey, version)).toThrow(withCode("INVALID_ADDRESS_VERSION"));
  });

  test.each(["", publicKey.slice(2), `${publicKey}00`, `zz${publicKey.slice(2)}`, ` ${publicKey.slice(1)}`])(
    "%j is not a public key",
    (text) => {
      expect(() => addressFromPublicKey(text, 68)).toThrow(withCode("PublicKeyError"));
      expect(isPublicKey(text, 68)).toBe(false);
    },
  );

  test("Digits that are not a point of the curve are accepted.", () => {
    expect(isPublicKey("ff".repeat(33), 68)).toBe(true);
  });

  test("The payload length of an address is not checked.", () => {
    for (const length of [1, 2, 20, 21, 22]) {
      expect(isAddress(encodeBase58check(new Uint8Array(length).fill(68)), 68)).toBe(true);
    }
    // Four bytes of checksum alone decode to an empty payload.
    expect(isAddress(encodeBase58check(new Uint8Array(0)), 68)).toBe(false);
  });

  test("Property: decoding returns the payload of the address.", () => {
    const hash = fc.uint8Array({ minLength: 20, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 255 }),
        fc.integer({ min: 1, max: 255 }),
        hash,
        (own, other, h) => {
          const payload = Uint8Array.of(own, ...h);
          const text = encodeBase58check(payload);
          expect(decodeAddress(text, other)).toEqual({ payload, isForeign: own !== other });
          expect(isAddress(text, other)).toBe(own === other);
        },
      ),
    );
  });
});

describe("wallet import format", () => {
  const { privateKey } = keysFromPassphrase("wif");
  const wif = (...bytes: number[]) => encodeBase58check(Uint8Array.from(bytes));

  test("Both forms of the wallet import format are read, the compressed one is written.", () => {
    expect(decodeWif(encodeWif(privateKey, 172), 172)).toEqual({
      ...keysFromPrivateKey(privateKey),
      compressed: true,
    });
    expect(decodeWif(wif(172, ...privateKey), 172)).toEqual({
      ...keysFromPrivateKey(privateKey, false),
      compressed: false,
    });
  });

  test.each([
    ["a foreign version", wif(186, ...privateKey, 1)],
    ["31 bytes", wif(172, ...privateKey.subarray(1))],
    ["another compression mark", wif(172, ...privateKey, 2)],
    ["a byte too many", wif(172, ...privateKey, 1, 1)],
    ["no payload", wif()],
    ["a wrong checksum", `${encodeWif(privateKey, 172).slice(0, -1)}1`],
    ["foreign characters", "0OIl"],
  ])("%s is refused", (_, text) => {
    expect(() => decodeWif(text, 172)).toThrow(withCode("INVALID_WIF"));
  });

  test.each([0n, ORDER])("The scalar %s is refused in the wallet import format.", (value) => {
    expect(() => decodeWif(wif(172, ...scalar(value), 1), 172)).toThrow(withCode("INVALID_PRIVATE_KEY"));
  });

  test("An error does not repeat the secret.", () => {
    const text = encodeWif(privateKey, 186);
    try {
      decodeWif(text, 172);
    } catch (error) {
      expect(error).toBeInstanceOf(IdentityError);
      expect((error as IdentityError).isRetryable).toBe(false);
      expect((error as IdentityError).message).not.toContain(text);
    }
  });
});

describe("messages", () => {
  const signed = signMessage("Hello", keysFromPassphrase("message"));

  test("A signed message is valid, an altered one is not.", () => {
    expect(verifyMessage(signed)).toBe(true);
    expect(verifyMessage({ ...signed, message: "hello" })).toBe(false);
    const { publicKey } = signMessage("Hello", keysFromPassphrase("other"));
    expect(verifyMessage({ ...signed, publicKey })).toBe(false);
  });

  test.each(["", "zz", "30", signed.signature.slice(2), `${signed.signature}00`, signed.signature.slice(1)])(
    "The signature %j is invalid.",
    (signature) => expect(verifyMessage({ ...signed, signature })).toBe(false),
  );

  test("Property: every text can be signed.", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (message) => {
        expect(verifyMessage(signMessage(message, keysFromPassphrase(message)))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

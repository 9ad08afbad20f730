import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import * as browser from "../../src/crypto/primitives.browser.ts";
import * as node from "../../src/crypto/primitives.node.ts";
import {
  bytesToHex,
  decodeBase58check,
  decryptBip38,
  encodeBase58check,
  encryptBip38,
  hdNetworkNode,
  hdRoot,
  isBip38,
  keysFromPassphrase,
  presets,
  utf8ToBytes,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";

const withCode = (code: string) => expect.objectContaining({ name: "IdentityError", code });

describe("keys with a password", () => {
  const { privateKey } = keysFromPassphrase("forger");

  test("Keys with a password are decrypted with it, and with no other.", async () => {
    const text = await encryptBip38(privateKey, "password");
    expect(text).toMatch(/^6P/);
    expect(await decryptBip38(text, "password")).toEqual({ privateKey, compressed: true });
    await expect(decryptBip38(text, "Password")).rejects.toThrow(withCode("WRONG_PASSWORD"));
  });

  test("Keys with a password keep the form of the public key.", async () => {
    const text = await encryptBip38(privateKey, "password", false);
    expect((await decryptBip38(text, "password")).compressed).toBe(false);
  });

  test("A password is used as it is typed, and composed for keys of programs that compose it.", async () => {
    const [composed, decomposed] = ["caf\u00e9", "cafe\u0301"];
    const asTyped = await encryptBip38(privateKey, decomposed);
    expect(await decryptBip38(asTyped, decomposed)).toMatchObject({ privateKey });
    await expect(decryptBip38(asTyped, composed)).rejects.toThrow(withCode("WRONG_PASSWORD"));
    // Other programs compose the password before they encrypt.
    const normalised = await encryptBip38(privateKey, composed);
    expect(await decryptBip38(normalised, decomposed)).toMatchObject({ privateKey });
  });

  test("A private key out of range is refused.", async () => {
    await expect(encryptBip38(new Uint8Array(32), "")).rejects.toThrow(withCode("INVALID_PRIVATE_KEY"));
  });

  test.each([
    [[0x01, 0x42, 0xc0], 39, true],
    [[0x01, 0x42, 0xe0], 39, true],
    [[0x01, 0x42, 0xc4], 39, false],
    [[0x01, 0x42, 0x20], 39, false],
    [[0x01, 0x43, 0x00], 39, true],
    [[0x01, 0x43, 0x24], 39, true],
    [[0x01, 0x43, 0x04], 39, true],
    [[0x01, 0x43, 0xe0], 39, false],
    [[0x01, 0x44, 0xc0], 39, false],
    [[0x02, 0x42, 0xc0], 39, false],
    [[0x01, 0x42, 0xc0], 38, false],
    [[0x01, 0x42, 0xc0], 40, false],
  ])("The structure %j of %i bytes is a key with a password: %s.", (first, length, expected) => {
    const payload = new Uint8Array(length);
    payload.set(first);
    expect(isBip38(encodeBase58check(payload))).toBe(expected);
  });

  test.each(["", "cactus cute please", "6PRVWUbkzzsbcVac2qwfssoUJAN1Xhrg6bNk8J7Nzm5H7kxEbn2Nh2ZoGz"])(
    "%j is a passphrase",
    async (text) => {
      expect(isBip38(text)).toBe(false);
      await expect(decryptBip38(text, "x")).rejects.toThrow(withCode("INVALID_BIP38"));
    },
  );

  test("The compressed form of EC-multiply is read.", async () => {
    const payload = decodeBase58check("6PfQu77ygVyJLZjfvMLyhLMQbYnu5uguoJJ4kMCLqWwPEdfpwANVS76gTX");
    payload[2] = 0x20;
    const decrypted = await decryptBip38(encodeBase58check(payload), "TestingOneTwoThree");
    expect(decrypted.compressed).toBe(true);
    expect(bytesToHex(decrypted.privateKey)).toBe(
      "a43a940577f4e97f5c4d39eb14ff083a98187c64ea7c99ef7ce460833959a519",
    );
  });
});

describe("primitives of browser and Node.js agree", () => {
  const key = node.sha256(utf8ToBytes("key"));
  const blocks = Uint8Array.from({ length: 48 }, (_, index) => index);

  test("Primitives of browser and Node.js agree on digests.", () => {
    const digests = [browser, node].map(({ sha256, ripemd160, sha1 }) =>
      [sha256, ripemd160, sha1].map((digest) => bytesToHex(digest(blocks))),
    );
    expect(digests[0]).toEqual(digests[1]);
  });

  test.each(["", "00", "0aFf", "0", "0g", "00zz11", "aé", " 00", "0\u{1f600}"])(
    "Primitives of browser and Node.js agree on hexadecimal %j.",
    (text) => {
      expect([...browser.fromHex(text)]).toEqual([...node.fromHex(text)]);
      expect(browser.toHex(node.fromHex(text))).toBe(node.toHex(node.fromHex(text)));
    },
  );

  test("Primitives of browser and Node.js agree on base58, and on its checksum.", () => {
    const random = Array.from({ length: 200 }, (_, index) =>
      Uint8Array.from(randomBytes(index % 70)).map((byte, at) => (at < index % 4 ? 0 : byte)),
    );
    const pairs = [
      [browser.base58, node.base58],
      [browser.base58check, node.base58check],
    ] as const;
    for (const bytes of [new Uint8Array(), new Uint8Array(3), ...random]) {
      for (const [here, there] of pairs) {
        const text = there.encode(bytes);
        expect(here.encode(bytes)).toBe(text);
        expect(here.decode(text)).toEqual(bytes);
      }
      const { decode } = browser.base58check;
      const text = node.base58check.encode(bytes);
      for (const wrong of [`1${text}`, text.slice(1), `${text.slice(0, -1)}${text.endsWith("2") ? 3 : 2}`]) {
        expect(() => decode(wrong)).toThrow();
        expect(() => node.base58check.decode(wrong)).toThrow();
      }
    }
    for (const wrong of ["0", "I", "l", "O", " ", "é", "1\n"])
      for (const { base58 } of [browser, node]) expect(() => base58.decode(wrong)).toThrow();
  });

  test("Primitives of browser and Node.js agree on scrypt.", async () => {
    const cost = { N: 1024, r: 2, p: 3 };
    const [here, there] = await Promise.all(
      [node, browser].map(({ scrypt }) => scrypt(key, blocks, cost, 64)),
    );
    expect(bytesToHex(present(here, "here"))).toBe(bytesToHex(present(there, "there")));
    expect(here).toHaveLength(64);
  });

  test("Primitives of browser and Node.js agree on AES.", async () => {
    const encrypted = await node.aesEncrypt(key, blocks);
    expect(bytesToHex(await browser.aesEncrypt(key, blocks))).toBe(bytesToHex(encrypted));
    expect(bytesToHex(await browser.aesDecrypt(key, encrypted))).toBe(bytesToHex(blocks));
    expect(bytesToHex(await node.aesDecrypt(key, encrypted))).toBe(bytesToHex(blocks));
  });
});

describe("hierarchical wallets", () => {
  const mnemonic =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
  const { network } = presets.dalinet;

  test("The network level of a hierarchical wallet is aip20, hardened, 1 if it is 0.", () => {
    const root = hdRoot(mnemonic, network);
    const node = (aip20: number) => hdNetworkNode(root, { ...network, aip20 }).extendedPrivateKey;
    expect(node(0)).toBe(root.derive("m/44'/111'/1'").extendedPrivateKey);
    expect(node(1)).toBe(node(0));
    expect(node(2)).toBe(root.derive("m/44'/111'/2'").extendedPrivateKey);
  });

  test("A passphrase creates another tree of hierarchical wallets.", () => {
    expect(hdRoot(mnemonic, network, "x").keys).not.toEqual(hdRoot(mnemonic, network).keys);
  });

  test("A mnemonic of another length is refused.", () => {
    expect(() => hdRoot("one two", network)).toThrow(withCode("INVALID_MNEMONIC"));
  });
});

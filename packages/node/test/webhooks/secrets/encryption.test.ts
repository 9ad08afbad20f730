import { expect, test } from "vitest";
import {
  createSalt,
  deriveKey,
  EncryptionError,
  PLAIN_SECRETS,
  SecretCipher,
} from "../../../src/webhooks/secrets.ts";

const KEY = deriveKey("a key of an operator, long enough", "salt");
const SECRET = "ab".repeat(32);

test("Encrypted texts can be decrypted, and differ each time.", () => {
  const cipher = new SecretCipher(KEY);
  const kept = cipher.encrypt(SECRET, "webhook 1");
  expect(kept).not.toContain(SECRET);
  expect(cipher.encrypt(SECRET, "webhook 1")).not.toBe(kept);
  expect(cipher.decrypt(kept, "webhook 1")).toBe(SECRET);
  expect(new SecretCipher(KEY).decrypt(kept, "webhook 1")).toBe(SECRET);
});

test("Another key, another owner and every changed byte are refused, cached or not.", () => {
  const cipher = new SecretCipher(KEY);
  const kept = cipher.encrypt(SECRET, "webhook 1");
  for (let round = 0; round < 2; round++) {
    expect(() => new SecretCipher(deriveKey("another key", "salt")).decrypt(kept, "webhook 1")).toThrow(
      EncryptionError,
    );
    expect(() => cipher.decrypt(kept, "webhook 2")).toThrow(/webhook 2 was changed outside/);
    const bytes = Buffer.from(kept.slice("sealed:".length), "base64");
    for (const [at, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[at] = byte ^ 1;
      expect(() => cipher.decrypt(`sealed:${changed.toString("base64")}`, "webhook 1")).toThrow(
        EncryptionError,
      );
    }
    for (const text of ["", "sealed:", kept.slice(0, 30), SECRET]) {
      expect(() => cipher.decrypt(text, "webhook 1"), text).toThrow(EncryptionError);
    }
    expect(cipher.decrypt(kept, "webhook 1")).toBe(SECRET);
  }
});

test("The same content yields another key in another data folder.", () => {
  expect(createSalt()).not.toBe(createSalt());
  expect(deriveKey("one", "a")).toEqual(deriveKey("one", "a"));
  expect(deriveKey("one", "a")).not.toEqual(deriveKey("one", "b"));
  expect(deriveKey("one", "a")).toHaveLength(32);
});

test("Secrets without a key are stored in plain text, and encrypted ones are never mistaken for plain text.", () => {
  expect([PLAIN_SECRETS, new SecretCipher(KEY)].map(({ isPlain }) => isPlain)).toEqual([true, false]);
  expect(PLAIN_SECRETS.encrypt(SECRET, "webhook 1")).toBe(SECRET);
  expect(PLAIN_SECRETS.decrypt(SECRET, "webhook 1")).toBe(SECRET);
  expect(() =>
    PLAIN_SECRETS.decrypt(new SecretCipher(KEY).encrypt(SECRET, "webhook 1"), "webhook 1"),
  ).toThrow(EncryptionError);
});

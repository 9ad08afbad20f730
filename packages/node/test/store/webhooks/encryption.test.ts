import { expect, test } from "vitest";
import {
  createSalt,
  createSeal,
  deriveKey,
  OPEN_SEAL,
  SealError,
} from "../../../src/store/webhooks/encryption.ts";

const KEY = deriveKey("a key of an operator, long enough", "salt");
const SECRET = "ab".repeat(32);

test("what is closed opens again, and looks different each time", () => {
  const seal = createSeal(KEY);
  const kept = seal.close(SECRET, "webhook 1");
  expect(kept).not.toContain(SECRET);
  expect(seal.close(SECRET, "webhook 1")).not.toBe(kept);
  expect(seal.open(kept, "webhook 1")).toBe(SECRET);
  expect(createSeal(KEY).open(kept, "webhook 1")).toBe(SECRET);
});

test("another key, another owner and every changed byte are refused, remembered or not", () => {
  const seal = createSeal(KEY);
  const kept = seal.close(SECRET, "webhook 1");
  for (let round = 0; round < 2; round++) {
    expect(() => createSeal(deriveKey("another key", "salt")).open(kept, "webhook 1")).toThrow(SealError);
    expect(() => seal.open(kept, "webhook 2")).toThrow(/webhook 2 was changed outside/);
    const bytes = Buffer.from(kept.slice("sealed:".length), "base64");
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(() => seal.open(`sealed:${changed.toString("base64")}`, "webhook 1")).toThrow(SealError);
    }
    for (const text of ["", "sealed:", kept.slice(0, 30), SECRET]) {
      expect(() => seal.open(text, "webhook 1"), text).toThrow(SealError);
    }
    expect(seal.open(kept, "webhook 1")).toBe(SECRET);
  }
});

test("the same content makes another key in another data folder", () => {
  expect(createSalt()).not.toBe(createSalt());
  expect(deriveKey("one", "a")).toEqual(deriveKey("one", "a"));
  expect(deriveKey("one", "a")).not.toEqual(deriveKey("one", "b"));
  expect(deriveKey("one", "a")).toHaveLength(32);
});

test("without a key secrets are kept as they are, and sealed ones are never taken for such", () => {
  expect(createSeal(undefined)).toBe(OPEN_SEAL);
  expect(OPEN_SEAL.close(SECRET, "webhook 1")).toBe(SECRET);
  expect(OPEN_SEAL.open(SECRET, "webhook 1")).toBe(SECRET);
  expect(() => OPEN_SEAL.open(createSeal(KEY).close(SECRET, "webhook 1"), "webhook 1")).toThrow(SealError);
});

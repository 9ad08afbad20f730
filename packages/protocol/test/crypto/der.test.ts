import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { hexToBytes, isReadableDer } from "../../src/index.ts";

type EcdsaCase = { name: string; signature: string; expect?: { reference?: string } };

const path = new URL("../../../../test/vectors/crypto/ecdsa.json", import.meta.url);
const cases = (JSON.parse(readFileSync(path, "utf8")).cases as EcdsaCase[]).filter(
  (c) => c.expect?.reference,
);

test.each(cases)("$name: readable or not", ({ signature, expect: { reference } = {} }) => {
  expect(isReadableDer(hexToBytes(signature))).toBe(reference !== "throws");
});

test.each([
  ["a length in long form of r", "300602810101020101", true],
  ["four bytes of length, in a wrong frame", "300b02840000000101020101", true],
  ["a length of 2^24", "300a02840100000001020101", false],
  ["four bytes of length, in the right frame", "300a02840000000101020101", false],
  ["more bytes of length than present", "30050290020101", false],
  ["an s of one zero byte", "3006020101020100", false],
  ["an s of one zero byte after a padded r", "300702020001020100", true],
])("%s", (_, signature, expected) => expect(isReadableDer(hexToBytes(signature))).toBe(expected));

import { expect, test } from "vitest";
import { identify } from "../../src/frame/search-kinds.ts";

const kindsOf = (text: string) => identify(text).map(({ kind }) => kind);
const hash = "5c6ce775447a5acd22050d72e2615392494953bb1fb6287e9ffb3c33eaeb79aa";

test.each([
  ["3234", ["height", "prefix", "name"]],
  ["5C6c", ["prefix", "name"]],
  ["5c6", ["name"]],
  ["1,234,567", ["height"]],
  [hash, ["hash", "name"]],
  [hash.toUpperCase(), ["hash", "name"]],
  ["13856390865034637215", ["hash", "prefix", "name"]],
  [`02${hash}`, ["publicKey"]],
  ["DMS2cbXvEkL6dpPhpi3iLCvtu8bNXZkbJp", ["address", "name"]],
  ["@bob", ["name"]],
  ["  Founder_1 ", ["name"]],
  ["", []],
  ["<script>", []],
  ["two words", []],
])("%j may be %j.", (text, kinds) => {
  expect(kindsOf(text)).toEqual(kinds);
});

import { InvalidArgumentError } from "commander";
import { describe, expect, test } from "vitest";
import {
  readAddress,
  readAnother,
  readHex64,
  readPair,
  readPayment,
  readTokens,
  readUnikType,
  readUnsigned,
} from "../../src/commands/tx/read.ts";

const ADDRESS = "DAxkNhWf8g3spepbDYYpz5F3rKVEhmiSpP";

describe("parsing of arguments", () => {
  test("amounts, ids, addresses and numbers", () => {
    expect(readTokens("12.5")).toBe(1_250_000_000n);
    expect(readHex64("ab".repeat(32))).toBe("ab".repeat(32));
    expect(readAddress(ADDRESS)).toBe(ADDRESS);
    expect([readUnsigned("0"), readUnsigned("1000000")]).toEqual([0, 1_000_000]);
    expect(["individual", "organization", "network"].map(readUnikType)).toEqual([1, 2, 3]);
  });

  test("repeatable options are collected", () => {
    const payments = readPayment(`${ADDRESS}=2`, readPayment(`${ADDRESS}=1`));
    expect(payments.map(({ amount }) => amount)).toEqual([100_000_000n, 200_000_000n]);
    expect(readPair("b=", readPair("a=b=c"))).toEqual([
      ["a", "b=c"],
      ["b", ""],
    ]);
    expect(readAnother("b", readAnother("a"))).toEqual(["a", "b"]);
  });
});

test.each<[string, () => unknown]>([
  ["an amount", () => readTokens("1,5")],
  ["an amount with nine decimals", () => readTokens("0.123456789")],
  ["an id that is too short", () => readHex64("ab")],
  ["an id in capitals", () => readHex64("AB".repeat(32))],
  ["an address that is too long", () => readAddress(`${ADDRESS}a`)],
  ["an address with an invalid character", () => readAddress(ADDRESS.replace("D", "0"))],
  ["a negative number", () => readUnsigned("-1")],
  ["a number with a fraction", () => readUnsigned("1.5")],
  ["a number that is too large", () => readUnsigned("99999999999999999999")],
  ["a payment without amount", () => readPayment(ADDRESS)],
  ["a payment of two amounts", () => readPayment(`${ADDRESS}=1=2`)],
  ["a payment without a recipient", () => readPayment("x=1")],
  ["a pair without name", () => readPair("=a")],
  ["a pair without value", () => readPair("a")],
  ["a name with two values", () => readPair("a=2", readPair("a=1"))],
  ["a type of unik", () => readUnikType("human")],
  ["the name of an inherited member", () => readUnikType("toString")],
])("%s is refused", (_what, read) => {
  expect(read).toThrow(InvalidArgumentError);
});

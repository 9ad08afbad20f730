import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RawTransaction } from "@uniknode/client";
import { bytesToHex, decodeTransaction, hexToBytes, present, transactionToJson } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { type Field, fieldsOf } from "../../src/signing/fields.ts";

const VECTORS = join(import.meta.dirname, "../../../../test/vectors/crypto");
const FILES = ["core", "magistrate", "nft", "uns", "v1", "multisignature"];

type Case = { readonly name: string; readonly expect: { readonly serialized?: string } };

const cases = FILES.flatMap((name) => {
  const text = readFileSync(join(VECTORS, `transactions-${name}.json`), "utf8");
  const { cases } = JSON.parse(text) as { cases: readonly Case[] };
  return cases.flatMap(({ name, expect: { serialized } }) =>
    serialized === undefined ? [] : [[name, serialized] as const],
  );
});

const rawOf = (serialized: string): RawTransaction =>
  transactionToJson({ ...decodeTransaction(hexToBytes(serialized)), id: "" }) as unknown as RawTransaction;
const textOf = (fields: readonly Field[]): string => fields.map(({ bytes }) => bytesToHex(bytes)).join("");

describe("The fields of a transaction", () => {
  test("There are transactions of every kind.", () => {
    expect(cases.length).toBeGreaterThan(40);
  });

  test.each(cases)("%s: together they are its bytes, without gaps.", (_name, serialized) => {
    const fields = fieldsOf(rawOf(serialized));
    expect(textOf(fields)).toBe(serialized);
    let offset = 0;
    for (const field of fields) {
      expect(field.offset).toBe(offset);
      offset += field.bytes.length;
    }
    expect(new Set(fields.map(({ name }) => name)).size).toBe(fields.length);
  });

  test("Those of a transfer have names and values.", () => {
    const [, serialized] = present(cases.find(([name]) => name === "transfer on livenet"));
    const said = fieldsOf(rawOf(serialized)).map(({ name, offset, value }) => [name, offset, value]);
    expect(said).toEqual([
      ["Marker", 0, "a transaction with a version"],
      ["Version", 1, "2"],
      ["Network", 2, "68"],
      ["Type group", 3, "1"],
      ["Type", 7, "0"],
      ["Nonce", 9, "1"],
      ["Public key of the sender", 17, "0316a0b23be3408a4af227280bb005e9a136e0dbdd86860516850e5c29c1829113"],
      ["Fee", 50, "10000000"],
      ["Length of the text", 58, "0"],
      ["Amount", 59, "1"],
      ["Expiration", 67, "0"],
      ["Recipient", 71, "UXJMx18r6b8ddXZyTz8mDGk6KSeyrdS4Tu"],
      ["Signature", 92, "over everything before"],
    ]);
  });

  test("The content of another type is its JSON, with amounts as text.", () => {
    const [, serialized] = present(cases.find(([name]) => name.startsWith("multiPayment with 3")));
    const content = present(fieldsOf(rawOf(serialized)).find(({ name }) => name === "Content of the type"));
    const { amount, asset } = JSON.parse(`${content.value}`);
    expect(amount).toBe("0");
    expect(asset.payments[0]).toEqual({
      recipientId: expect.any(String),
      amount: expect.stringMatching(/^\d+$/),
    });
  });
});

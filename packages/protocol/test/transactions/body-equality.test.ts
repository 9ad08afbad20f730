import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeTransaction, type TransactionBody } from "../../src/index.ts";
import { decodeTransaction } from "../../src/transactions/codec.ts";
import { isSameBody } from "../../src/transactions/json.ts";
import { bodyOf, coreTransaction, signed, transfer } from "./fixtures.ts";

const decoded = (body: TransactionBody) => decodeTransaction(encodeTransaction(body));

describe("a decoded body", () => {
  test("A decoded body is the same as the body that was encoded, whatever its type, and has the same bytes.", () => {
    fc.assert(
      fc.property(coreTransaction, (body) => {
        const read = decoded(body);
        expect(isSameBody(read, body)).toBe(true);
        expect(encodeTransaction(read)).toEqual(encodeTransaction(body));
      }),
    );
  });

  test("A decoded body has no id: the one of the input does not count.", () => {
    const { id: _id, ...body } = signed();
    expect(isSameBody(body, signed())).toBe(true);
  });

  test.each<[string, Partial<TransactionBody>]>([
    ["another value", { amount: 2n }],
    ["an additional member", { vendorField: "x" }],
    ["another type of a value", { fee: "10000000" as unknown as bigint }],
    ["an additional member without a value", { asset: undefined } as unknown as Partial<TransactionBody>],
  ])("is not the same as a body with %s", (_, changes) => {
    expect(isSameBody(transfer(), { ...transfer(), ...changes })).toBe(false);
    expect(isSameBody({ ...transfer(), ...changes }, transfer())).toBe(false);
  });

  test("A decoded body is not the same if nested members have another order, which decides the bytes of maps.", () => {
    const token = (properties: Record<string, string>) =>
      bodyOf(0, { typeGroup: 2000, asset: { nft: { unik: { tokenId: "ab".repeat(32), properties } } } });
    expect(isSameBody(token({ a: "1", b: "2" }), token({ a: "1", b: "2" }))).toBe(true);
    expect(isSameBody(token({ a: "1", b: "2" }), token({ b: "2", a: "1" }))).toBe(false);
  });

  test("A decoded body is not the same if an array is an object.", () => {
    const votes = (value: unknown) => bodyOf(3, { asset: { votes: value as string[] } });
    expect(isSameBody(votes(["+a"]), votes({ 0: "+a" }))).toBe(false);
    expect(isSameBody(votes(["+a"]), votes(null))).toBe(false);
  });
});

/** Cursors, which all implementations of the read model share. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  blockTerms,
  cursorAt,
  cursorValues,
  MAX_CURSOR_BYTES,
  type NamedTerm,
  tokenTerms,
  transactionTerms,
  walletTerms,
} from "../../src/read/cursor.ts";
import { BLOCKS, TRANSACTIONS, UNIKS, WALLETS } from "../../src/read/lists.ts";
import { CursorError } from "../../src/read/port.ts";

const byFee = transactionTerms({ field: "fee", direction: "asc" });
const byText = transactionTerms({ field: "vendorField", direction: "desc", sequence: "asc" });
const byUsername = walletTerms({ field: "username", direction: "desc" });

const DIRECTIONS = ["asc", "desc"] as const;
const ORDERS: NamedTerm[][] = DIRECTIONS.flatMap((direction) => [
  ...BLOCKS.orders.map((field) => blockTerms({ field, direction })),
  ...WALLETS.orders.map((field) => walletTerms({ field, direction })),
  ...UNIKS.orders.map((field) => tokenTerms({ field, direction })),
  ...TRANSACTIONS.orders.flatMap((field) =>
    DIRECTIONS.map((sequence) => transactionTerms({ field, direction, sequence })),
  ),
]);

const VALUES = {
  absence: fc.constantFrom(0n),
  integer: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  text: fc.string({ unit: "grapheme-ascii", maxLength: 66 }),
  bytes: fc.string({ unit: "binary", maxLength: 100 }),
} as const satisfies Record<NamedTerm["kind"], unknown>;

describe("a cursor", () => {
  test("A cursor names the order, and has its values as texts.", () => {
    expect(cursorAt(byFee, [2n ** 63n - 1n, 7, "0"])).toBe('["fcb849de","9223372036854775807","7","0"]');
    expect(cursorAt(byText, [0, "a\0", 7, 1])).toBe('["4a57897c","0","YQA","7","1"]');
    expect(cursorAt(byText, [0, Buffer.from("a\0"), 7n, "1"])).toBe('["4a57897c","0","YQA","7","1"]');
    expect(cursorAt(byUsername, [1n, null, "D1"])).toBe('["bb51b63a","1",null,"D1"]');
  });

  test("A cursor has the values of its row, in any order.", () => {
    const rows = fc
      .constantFrom(...ORDERS)
      .chain((order) =>
        fc.tuple(
          fc.constant(order),
          fc.tuple(...order.map(({ kind }): fc.Arbitrary<string | bigint> => VALUES[kind])),
        ),
      );
    fc.assert(
      fc.property(rows, ([order, values]) => {
        expect(cursorValues(order, cursorAt(order, values))).toEqual(values);
      }),
    );
    expect(cursorValues(byText, cursorAt(byText, [1, null, 7, 0]))).toEqual([1n, null, 7n, 0n]);
  });

  test("A cursor is short enough for requests, whatever the vendor field.", () => {
    for (const text of [
      "\u0001".repeat(255),
      '"'.repeat(255),
      "\ufffd".repeat(255),
      "\u{1f600}".repeat(63),
    ]) {
      const cursor = cursorAt(byText, [0, text, Number.MAX_SAFE_INTEGER, 2 ** 20]);
      expect(Buffer.byteLength(cursor)).toBeLessThanOrEqual(MAX_CURSOR_BYTES);
      expect(cursorValues(byText, cursor)).toEqual([0n, text, 2n ** 53n - 1n, 2n ** 20n]);
    }
    expect(Buffer.from("x".repeat(MAX_CURSOR_BYTES)).toString("base64url")).toHaveLength(2_048);
  });

  test("A cursor differs for different orders.", () => {
    const names = ORDERS.map((order) => JSON.stringify(order));
    const cursors = ORDERS.map((order) => cursorAt(order, [1, "", "", ""]).slice(0, 10));
    expect(new Set(cursors).size).toBe(new Set(names).size);
  });
});

describe("a cursor is refused", () => {
  const named = (order: readonly NamedTerm[], ...members: unknown[]) => {
    const [name] = JSON.parse(cursorAt(order, [])) as [string];
    return JSON.stringify([name, ...members]);
  };

  test.each([
    ["of another order", byFee, cursorAt(byText, [0, "a", 7, 0])],
    ["that is not JSON", byFee, "["],
    ["that is not a list", byFee, '{"length":4}'],
    ["with too few members", byFee, named(byFee, "1", "7")],
    ["with too many members", byFee, named(byFee, "1", "7", "0", "0")],
    ["with numbers", byFee, named(byFee, 1, 7, 0)],
    ["with an integer in another form", byFee, named(byFee, "01", "7", "0")],
    ["with a fraction", byFee, named(byFee, "1.5", "7", "0")],
    ["with an integer beyond 64 bits", byFee, named(byFee, "9223372036854775808", "7", "0")],
    ["without a value that no row lacks", byFee, named(byFee, null, "7", "0")],
    ["without a value that the row has", byUsername, named(byUsername, "0", null, "D1")],
    ["with a value that the row lacks", byUsername, named(byUsername, "1", "bob", "D1")],
    ["with another absence", byUsername, named(byUsername, "2", "bob", "D1")],
    ["with U+0000 in a name", byUsername, named(byUsername, "0", "\0", "D1")],
    ["with a lone surrogate", byUsername, `["${JSON.parse(named(byUsername))[0]}","0","\\ud800","D1"]`],
    ["with base64 in another form", byText, named(byText, "0", "YQ==", "7", "0")],
    ["with bytes that are not UTF-8", byText, named(byText, "0", "_w", "7", "0")],
    ["that is too long", byUsername, named(byUsername, "0", "x".repeat(MAX_CURSOR_BYTES), "D1")],
  ])("%s.", (_, order, cursor) => {
    expect(() => cursorValues(order, cursor)).toThrow(CursorError);
  });
});

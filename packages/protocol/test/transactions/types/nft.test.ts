import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NftAsset } from "../../../src/index.ts";
import { present } from "../../../src/present.ts";
import {
  address,
  around,
  assertSurvive,
  id,
  nft,
  payloadOf,
  readPayload,
  roundTrip,
  transactionOf,
} from "../../../test-support/arbitraries.ts";

const tokenId = "ab".repeat(32);

test.each([0, 1])("The type 2000/%i survives its bytes.", (type) => {
  const transactions = transactionOf(2000, type, fc.record({ asset: fc.record({ nft }) }));
  assertSurvive(transactions);
});

test("The type 2000/2 survives its bytes.", () => {
  const members = fc.record({ asset: fc.record({ nft }), recipientId: address });
  assertSurvive(transactionOf(2000, 2, members));
});

test("The order of properties survives, array indexes first.", () => {
  const members = fc.record({ asset: fc.record({ nft }) });
  const orderOf = ({ asset }: { asset?: { nft?: NftAsset } }) =>
    Object.values(present(asset?.nft, "nft")).map((token) => Object.keys(token.properties ?? {}));
  fc.assert(
    fc.property(transactionOf(2000, 0, members), (data) => {
      expect(orderOf(roundTrip(data))).toEqual(orderOf(data));
    }),
  );
  const token = {
    tokenId,
    properties: { b: "1", "10": "2", "4294967295": "3", "9": "4", "4294967294": "5", "01": "6" },
  };
  const [kept] = orderOf(roundTrip(around(2000, 0, { nft: { unik: token } })));
  expect(kept).toEqual(["9", "10", "4294967294", "b", "4294967295", "01"]);
});

const payload = (name: string, properties: string) =>
  Buffer.from([name.length, ...Buffer.from(name)]).toString("hex") + tokenId + properties;

describe("writing", () => {
  const write = (nft: unknown) => payloadOf(around(2000, 0, { nft: nft as NftAsset }));

  test("The value null is a length of -1, the empty text a length of 0.", () => {
    expect(write({ u: { tokenId, properties: { a: null, b: "" } } })).toBe(
      payload("u", "02" + "0161ffff" + "01620000"),
    );
  });

  test("Only the first token counts, in the order of JavaScript.", () => {
    expect(write({ u: { tokenId }, 7: { tokenId: "cd".repeat(32) } })).toBe(`0137${"cd".repeat(32)}00`);
  });

  test.each([[{}], [{ "": { tokenId } }], [{ "\n": {} }], [{ u: { tokenId, properties: { a: 5 } } }]])(
    "%j cannot be encoded",
    (nft) => expect(() => write(nft)).toThrow(TypeError),
  );

  test.each([false, 0, true, {}])("A value %j is refused.", (value) => {
    expect(() => write({ u: { tokenId, properties: { a: value } } })).toThrow(TypeError);
  });

  test("An array is encoded as its bytes.", () => {
    expect(write({ u: { tokenId, properties: { a: [1, 2] } } })).toBe(payload("u", "0101610200" + "0102"));
  });
});

describe("reading", () => {
  const read = (bytes: string) => present(readPayload(2000, 0, bytes).asset?.nft, "nft");

  test("An empty list of properties is an absent member.", () => {
    expect(read(payload("u", "00"))).toEqual({ u: { tokenId } });
  });

  test("A repeated key keeps its position and gets the last value.", () => {
    const { properties } = present(read(payload("u", "03" + "0161010031" + "01620000" + "0161ffff")).u, "u");
    expect(Object.entries(present(properties, "properties"))).toEqual([
      ["a", null],
      ["b", ""],
    ]);
  });

  test.each(["010078", "ffff"])("A property __proto__ vanishes (%s).", (value) => {
    const { properties } = present(read(payload("u", `02095f5f70726f746f5f5f${value}01620000`)).u, "u");
    expect(Object.keys(present(properties, "properties"))).toEqual(["b"]);
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
  });

  test("A token __proto__ is an ordinary token.", () => {
    expect(Object.entries(read(payload("__proto__", "00")))).toEqual([["__proto__", { tokenId }]]);
  });

  test.each(["feff", "0080", "ff7f"])("A value length %s is refused.", (length) => {
    expect(() => read(payload("u", `010161${length}`))).toThrow(RangeError);
  });

  test("Ill-formed UTF-8 is replaced.", () => {
    expect(read(payload("u", "01" + "01ff" + "0100fe")).u?.properties).toEqual({ "\ufffd": "\ufffd" });
  });

  test("255 properties are read in their order", () => {
    const names = Array.from({ length: 255 }, (_, i) => `k${i}`);
    const token = { tokenId, properties: Object.fromEntries(names.map((name) => [name, "v"])) };
    const kept = present(roundTrip(around(2000, 0, { nft: { unik: token } })).asset?.nft?.unik, "unik");
    expect(Object.keys(present(kept.properties, "properties"))).toEqual(names);
  });

  test("Truncated bytes are refused.", () => {
    const whole = payload("unik", "01" + "0161" + "0100" + "62");
    for (let length = 0; length < whole.length; length += 2) {
      expect(() => read(whole.slice(0, length)), `${length / 2} bytes`).toThrow(RangeError);
    }
    expect(() => read(whole)).not.toThrow();
  });
});

test("An id is read in lower case.", () => {
  fc.assert(
    fc.property(id, (value) => {
      const upper = around(2000, 0, { nft: { unik: { tokenId: value.toUpperCase() } } });
      expect(roundTrip(upper).asset?.nft?.unik?.tokenId).toBe(value);
    }),
  );
});

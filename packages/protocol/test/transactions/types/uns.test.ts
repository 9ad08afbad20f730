import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Asset } from "../../../src/index.ts";
import { present } from "../../../src/present.ts";
import {
  address,
  around,
  assertSurvive,
  certification,
  demand,
  disclosure,
  id,
  nft,
  payloadOf,
  publicKey,
  roundTrip,
  transactionOf,
} from "../../../test-support/arbitraries.ts";

const certified = fc.record({ asset: fc.record({ nft, demand, certification }), recipientId: address });

test.each([3, 4])("The type 2001/%i survives its bytes, the amount being the cost.", (type) => {
  assertSurvive(transactionOf(2001, type, certified), (data) => ({
    ...data,
    amount: present(data.asset?.certification, "certification").payload.cost,
  }));
});

test("The type 2001/6 survives its bytes, and its amount is 0.", () => {
  const transactions = transactionOf(2001, 6, certified).map((data) => ({ ...data, amount: 5n }));
  assertSurvive(transactions, (data) => ({ ...data, amount: 0n }));
});

test.each([
  [0, fc.record({ asset: disclosure })],
  [1, fc.record({ asset: fc.record({ delegate: fc.record({ username: id }) }) })],
  [2, fc.constant({})],
  [5, publicKey.map((key) => ({ asset: { votes: [`+${key}`] } }))],
  [5, publicKey.map((key) => ({ asset: { votes: [`-${key}`] } }))],
])("The type 2001/%i survives its bytes.", (type, members) => {
  assertSurvive(transactionOf(2001, type, members));
});

const hash = (byte: string) => byte.repeat(32);
const unknown = "UXJMx18r6b8ddXZyTz8mDGk6KSeyrdS4Tu";

const asset: Required<Pick<Asset, "nft" | "demand" | "certification">> = {
  nft: { u: { tokenId: hash("01") } },
  demand: {
    payload: { iss: hash("aa"), sub: hash("bb"), iat: 1, cryptoAccountAddress: unknown },
    signature: "3001ee",
  },
  certification: {
    payload: { sub: hash("cc"), iss: hash("dd"), iat: 2, cost: 3n },
    signature: "3000",
  },
};

/** Payload of a mint with altered parts. */
const mint = (parts: { demand?: object; certification?: object; signature?: string }) => {
  const altered = {
    nft: asset.nft,
    demand: {
      payload: { ...asset.demand.payload, ...parts.demand },
      signature: parts.signature ?? asset.demand.signature,
    },
    certification: {
      ...asset.certification,
      payload: { ...asset.certification.payload, ...parts.certification },
    },
  };
  return payloadOf(around(2001, 3, altered, { recipientId: unknown }));
};

test("A demand has iss before sub, a certification sub before iss.", () => {
  const recipient = "4466314f1ccb9741d6f1a6f9b26ed563c439fc1a94";
  expect(mint({})).toBe(
    `0175${hash("01")}00` +
      `${hash("aa")}${hash("bb")}0100000000000000${recipient}3001ee` +
      `${hash("cc")}${hash("dd")}020000000000000003000000000000003000${recipient}`,
  );
});

describe("times", () => {
  const writtenTime = (iat: unknown) =>
    mint({ demand: { iat } })
      .slice(2 * (2 + 32 + 1 + 64))
      .slice(0, 16);

  test.each([
    [0, "0000000000000000"],
    [1.9, "0100000000000000"],
    [-1, "ffffffffffffffff"],
    [-1.9, "ffffffffffffffff"],
    [2 ** 53, "0000000000002000"],
    [2 ** 63 - 1024, "00fcffffffffff7f"],
    [2 ** 63, "ffffffffffffff7f"],
    [1e19, "ffffffffffffff7f"],
    [Number.POSITIVE_INFINITY, "ffffffffffffff7f"],
  ])("%d is written as %s", (iat, bytes) => expect(writtenTime(iat)).toBe(bytes));

  test.each([null, undefined, "1", true, {}, []])("%j is refused", (iat) => {
    expect(() => writtenTime(iat)).toThrow(TypeError);
  });

  test("A time above 2^63 is encoded as 2^63 - 1, and is stable.", () => {
    const payload = { ...asset.demand.payload, iat: 2 ** 64 };
    const data = around(
      2001,
      6,
      { ...asset, demand: { ...asset.demand, payload } },
      { recipientId: unknown },
    );
    const once = roundTrip(data);
    expect(once.asset?.demand?.payload.iat).toBe(2 ** 63);
    expect(roundTrip(once)).toEqual(once);
  });
});

describe("costs", () => {
  const amountOf = (cost: unknown) => {
    const payload = { ...asset.certification.payload, cost } as {
      sub: string;
      iss: string;
      iat: number;
      cost: bigint;
    };
    const altered = { ...asset, certification: { ...asset.certification, payload } };
    return roundTrip(around(2001, 3, altered, { recipientId: unknown })).amount;
  };

  test.each([
    [5, 5n],
    ["100000000", 100_000_000n],
    ["9223372036854775808", 2n ** 63n],
    [2n ** 64n + 1n, 1n],
  ])("%s is the amount %s", (cost, amount) => expect(amountOf(cost)).toBe(amount));

  test.each(["", "abc", "1.5", 1.5, null, undefined, {}, [], 2 ** 53])("%j is refused", (cost) => {
    expect(() => amountOf(cost)).toThrow(TypeError);
  });
});

describe("identifiers", () => {
  test.each([null, undefined, 5, {}, "abc"])("%j is refused", (iss) => {
    expect(() => mint({ demand: { iss } })).toThrow(TypeError);
    expect(() => mint({ certification: { sub: iss } })).toThrow(TypeError);
  });

  test("A text as identifier counts up to its first pair that is not hexadecimal.", () => {
    expect(mint({ demand: { iss: `abc${"zz"}d` } })).toHaveLength(mint({}).length - 62);
  });

  test("A demand signature can have an odd digit at its end.", () => {
    expect(mint({ signature: "3001ee3" })).toBe(mint({}));
  });
});

describe("a disclosure", () => {
  const demandPayload = { explicitValue: ["bob", "é"], type: 1, iss: hash("aa"), sub: hash("bb"), iat: 1 };
  const write = (changes: object) =>
    payloadOf(
      around(2001, 0, {
        "disclose-demand": { payload: { ...demandPayload, ...changes }, signature: "3000" },
        "disclose-demand-certification": {
          payload: { iss: hash("cc"), sub: hash("dd"), iat: 2 },
          signature: "3000",
        },
      }),
    );

  test("A disclosure has the number of its values, and before each its length in bytes.", () => {
    expect(write({})).toBe(
      `0203626f6202c3a901${hash("aa")}${hash("bb")}01000000000000003000` +
        `${hash("dd")}${hash("cc")}02000000000000003000`,
    );
  });

  test("Lengths and counts of a disclosure are taken modulo 256.", () => {
    expect(write({ explicitValue: ["x".repeat(257)] }).slice(0, 4)).toBe("0101");
    expect(write({ explicitValue: Array(258).fill("") }).slice(0, 2)).toBe("02");
    expect(write({ type: 257 })).toBe(write({ type: 1 }));
  });

  test.each([
    { explicitValue: "bob" },
    { explicitValue: null },
    { explicitValue: [5] },
    { type: "1" },
    { type: 0.5 },
    { type: true },
  ])("%j is refused", (changes) => expect(() => write(changes)).toThrow(TypeError));
});

test("A truncated signature is refused.", () => {
  const data = around(2001, 0, {
    "disclose-demand": {
      payload: { explicitValue: [], type: 1, iss: hash("aa"), sub: hash("bb"), iat: 1 },
      signature: "30",
    },
    "disclose-demand-certification": { payload: { iss: "", sub: "", iat: 2 }, signature: "30" },
  });
  expect(() => roundTrip(data)).toThrow(RangeError);
});

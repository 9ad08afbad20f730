import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Asset, staticFee } from "../../../src/index.ts";
import { present } from "../../../src/present.ts";
import { entity } from "../../../src/transactions/types/magistrate/entity.ts";
import { isSeedNode } from "../../../src/transactions/types/magistrate/seed-node.ts";
import {
  around,
  ascii,
  assertSurvive,
  id,
  payloadOf,
  ports,
  readPayload,
  roundTrip,
  transactionOf,
} from "../../../test-support/arbitraries.ts";
import { livenet } from "../../../test-support/builders.ts";

const optional = ascii(1, 80);
const texts = fc.array(ascii(0, 30), { minLength: 1, maxLength: 10 });
const byte = fc.integer({ min: 0, max: 255 });

const assets: [string, number, fc.Arbitrary<Asset>][] = [
  [
    "businessRegistration",
    0,
    fc.record({
      businessRegistration: fc.record(
        { name: ascii(0, 40), website: ascii(0, 80), vat: optional, repository: optional },
        { requiredKeys: ["name", "website"], noNullPrototype: true },
      ),
    }),
  ],
  [
    "businessUpdate",
    2,
    fc.record({
      businessUpdate: fc.record(
        { name: optional, website: optional, vat: optional, repository: optional },
        { requiredKeys: [], noNullPrototype: true },
      ),
    }),
  ],
  [
    "bridgechainRegistration",
    3,
    fc.record({
      bridgechainRegistration: fc.record(
        {
          name: ascii(0, 40),
          seedNodes: texts,
          genesisHash: id,
          bridgechainRepository: ascii(0, 80),
          bridgechainAssetRepository: optional,
          ports,
        },
        {
          requiredKeys: ["name", "seedNodes", "genesisHash", "bridgechainRepository", "ports"],
          noNullPrototype: true,
        },
      ),
    }),
  ],
  ["bridgechainResignation", 4, fc.record({ bridgechainResignation: fc.record({ bridgechainId: id }) })],
  [
    "bridgechainUpdate",
    5,
    fc.record({
      bridgechainUpdate: fc.record(
        {
          bridgechainId: id,
          seedNodes: texts,
          ports,
          bridgechainRepository: optional,
          bridgechainAssetRepository: optional,
        },
        { requiredKeys: ["bridgechainId"], noNullPrototype: true },
      ),
    }),
  ],
  [
    "entity",
    6,
    fc.record(
      {
        type: byte,
        subType: byte,
        action: byte,
        registrationId: id,
        data: fc.record({ name: optional, ipfsData: optional }, { requiredKeys: [], noNullPrototype: true }),
      },
      { requiredKeys: ["type", "subType", "action", "data"], noNullPrototype: true },
    ),
  ],
];

test.each(assets)("%s survives its bytes", (_name, type, asset) => {
  const transactions = transactionOf(2, type, fc.record({ asset }));
  assertSurvive(transactions);
});

test("The type businessResignation survives its bytes.", () => {
  assertSurvive(transactionOf(2, 1, fc.constant({})));
});

test("Lengths are written in bytes and read in characters.", () => {
  const data = around(2, 2, { businessUpdate: { name: "é1234" } });
  expect(payloadOf(data)).toBe("06c3a931323334000000");
  expect(() => roundTrip(data)).toThrow(RangeError);
  // Six characters: the é, the four digits and the length that follows.
  expect(readPayload(2, 2, "06c3a93132333400000000").asset).toEqual({ businessUpdate: { name: "é1234\0" } });
});

test("A port called __proto__ vanishes, and only counted ports are members.", () => {
  const withPorts = (bytes: string) =>
    present(
      readPayload(2, 5, `${"ab".repeat(32)}00${bytes}0000`).asset?.bridgechainUpdate,
      "bridgechainUpdate",
    );
  expect(withPorts("01095f5f70726f746f5f5f0100").ports).toEqual({});
  expect(withPorts("00")).not.toHaveProperty("ports");
});

test("The value null is an absent text, and required texts must be present.", () => {
  const write = (type: number, asset: object) => payloadOf(around(2, type, asset as Asset));
  expect(write(2, { businessUpdate: { website: null } })).toBe("00000000");
  expect(() => write(0, { businessRegistration: { name: "a", website: null } })).toThrow(TypeError);
  expect(() => write(0, { businessRegistration: { name: "a", website: 5 } })).toThrow(TypeError);
});

test("The fee of an entity depends on its action.", () => {
  const feeOf = (action: number) => staticFee(around(2, 6, { action }), livenet.milestoneAt(2));
  expect([0, 1, 2].map(feeOf)).toEqual([5_000_000_000n, 500_000_000n, 500_000_000n]);
  expect(entity.key).toBe("entity");
});

describe("seed nodes", () => {
  test.each([
    "1.2.3.4",
    "10.0.0.1",
    "192.168.0.1",
    "010.1.1.1",
    "0x10.1.1.1",
    "16909060",
    "255.255.255.255",
    "2001:db8::1",
    "::",
    "::2",
    "fe80::1%eth0",
    "::ffff:8.8.8.8",
    "1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8:",
    "1:2:3:4:5:6:1.2.3.4",
    "1:2:3:4:5:6::1.2.3.4",
    "::ffff:0177.0.0.1",
    "::ffff:0x7e.0.0.1",
    "1.0X1FF.1.1",
    "1.08.1.1",
  ])("%s is accepted", (text) => expect(isSeedNode(text)).toBe(true));

  test.each([
    "",
    "127.0.0.1",
    "127.255.0.1",
    "0177.0.0.1",
    "0.0.0.0",
    "00.1.2.3",
    "2130706433",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:0.1.2.3",
    "a.b.c.d",
    "1.2.3",
    "1.2.3.4.5",
    "1.2.3.256",
    "1.2.3.4 ",
    "1..2.3",
    "4294967296",
    "localhost",
    "::1::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "12345::",
    "g::",
    ":1",
    "1.2.3.4::",
    "1:2:3:4:5:6:7:",
    "1::7:8:",
    "::1.2.3.4",
    "64:ff9b::1.2.3.4",
    ":::1.2.3.4",
    "1:2:3:4:5:6:1.2.3.0377",
    "::ffff:0127.1.1.1",
    "0X10.1.1.1",
    "0X01020304",
  ])("%j is refused", (text) => expect(isSeedNode(text)).toBe(false));
});

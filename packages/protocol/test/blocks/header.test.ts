import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockIdOf } from "../../src/blocks/header.ts";
import {
  type BlockHeader,
  blockIdToHex,
  bytesToHex,
  createNetwork,
  decodeBlock,
  decodeHeader,
  encodeFrame,
  encodeHeader,
  encodeUnsignedHeader,
  fullIdOf,
  type HeaderFields,
  isBlockException,
  partialIdFromHex,
  partialIdOf,
  partialIdToHex,
  presets,
  sha256,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";

const livenet = createNetwork(presets.livenet);
/** Full ids from 4000000 on. */
const unitnet = createNetwork(presets.unitnet);

const u32 = fc.integer({ min: 0, max: 0xffffffff });
const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value) => bytesToHex(value));
/** Byte string whose second byte is its length, like DER. */
const signature = fc
  .uint8Array({ minLength: 0, maxLength: 255 })
  .map((rest) => bytesToHex(Uint8Array.of(0x30, rest.length, ...rest)));

const fieldsAt = (height: fc.Arbitrary<number>, previousBlock: fc.Arbitrary<string>) =>
  fc.record({
    version: u32,
    timestamp: u32,
    height,
    previousBlock,
    numberOfTransactions: u32,
    totalAmount: u64,
    totalFee: u64,
    reward: u64,
    payloadLength: u32,
    payloadHash: hex(32),
    generatorPublicKey: hex(33),
    blockSignature: signature,
  });

/** Block whose transactions stay bytes. */
const slicesOf = (bytes: Uint8Array) => decodeBlock(bytes, livenet, (slice) => slice);

/** Members that the bytes contain. */
const fieldsOf = ({ id: _, idHex: __, previousBlockHex: ___, ...fields }: BlockHeader) => fields;

describe("header bytes", () => {
  test.each([
    ["partial", fieldsAt(fc.integer({ min: 1, max: 4_000_000 }), u64.map(String)), 117],
    ["full", fieldsAt(fc.integer({ min: 4_000_001, max: 0xffffffff }), hex(32)), 141],
  ])("Property: header bytes with a %s previous id are decoded unchanged.", (_, fields, unsignedLength) => {
    fc.assert(
      fc.property(fields, fc.uint8Array(), (expected, rest) => {
        const bytes = encodeHeader(expected, unitnet);
        const { header, byteLength } = decodeHeader(Uint8Array.of(...bytes, ...rest), unitnet);
        expect(fieldsOf(header)).toEqual(expected);
        expect(byteLength).toBe(bytes.length);
        expect(encodeUnsignedHeader(header, unitnet)).toEqual(bytes.slice(0, unsignedLength));
        expect(header.idHex).toBe(blockIdToHex(header.id));
        expect(header.previousBlockHex).toBe(blockIdToHex(expected.previousBlock));
      }),
    );
  });

  test("Property: header bytes that end too early are refused.", () => {
    const any = fieldsAt(fc.integer({ min: 1, max: 100 }), u64.map(String));
    fc.assert(
      fc.property(any, fc.nat(), (fields, cut) => {
        const bytes = encodeHeader(fields, unitnet);
        expect(() => decodeHeader(bytes.subarray(0, cut % bytes.length), unitnet)).toThrow(
          expect.objectContaining({ code: "INVALID_BLOCK_BYTES", isRetryable: false }),
        );
      }),
    );
  });

  const fields: HeaderFields = {
    version: 0,
    timestamp: 8,
    height: 2,
    previousBlock: "16878283292378148193",
    numberOfTransactions: 0,
    totalAmount: 0n,
    totalFee: 0n,
    reward: 0n,
    payloadLength: 0,
    payloadHash: "00".repeat(32),
    generatorPublicKey: "02".repeat(33),
    blockSignature: "3000",
  };

  test("The block that switches to full ids still has a partial previous id.", () => {
    const { header, byteLength } = decodeHeader(encodeHeader(fields, livenet), livenet);
    expect(byteLength).toBe(117 + 2);
    expect(header.id).toHaveLength(64);
    expect(header.previousBlockHex).toBe("ea3bb53abc9c2d61");
    const next = { ...fields, height: 3, previousBlock: header.id };
    expect(encodeHeader(next, livenet)).toHaveLength(141 + 2);
  });

  test("A full previous id must have 64 digits.", () => {
    expect(() => encodeHeader({ ...fields, height: 3 }, livenet)).toThrow(
      expect.objectContaining({ code: "PreviousBlockIdFormatError" }),
    );
  });

  test("An absent previous id is written as zero and read as 0.", () => {
    const { header } = decodeHeader(encodeHeader({ ...fields, previousBlock: "" }, livenet), livenet);
    expect(header.previousBlock).toBe("0");
    expect(header.previousBlockHex).toBe("0000000000000000");
  });

  test("Numbers are written modulo their width.", () => {
    const large = { ...fields, payloadLength: 2 ** 32 + 1, totalFee: 2n ** 64n + 5n };
    const { header } = decodeHeader(encodeHeader(large, livenet), livenet);
    expect(header.payloadLength).toBe(1);
    expect(header.totalFee).toBe(5n);
  });

  test("Exceptions can replace the id.", () => {
    const computed = decodeHeader(encodeHeader(fields, livenet), livenet).header.id;
    const outlookTable = { [computed]: "ab".repeat(32) };
    const network = createNetwork({ ...presets.livenet, exceptions: { outlookTable } });
    const { header } = decodeHeader(encodeHeader(fields, network), network);
    expect(header.id).toBe("ab".repeat(32));
    expect(header.idHex).toBe("ab".repeat(32));
  });

  test("Property: a frame contains its transactions, and bytes after them are ignored.", () => {
    const slices = fc.array(fc.uint8Array(), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(slices, fc.uint8Array(), (transactions, rest) => {
        const bytes = encodeFrame(fields, transactions, livenet);
        const frame = slicesOf(Uint8Array.of(...bytes, ...rest));
        expect(frame.transactions).toEqual(transactions);
        expect(frame.header.numberOfTransactions).toBe(transactions.length);
        for (const cut of [1, bytes.length - encodeHeader(fields, livenet).length - 1]) {
          expect(() => slicesOf(bytes.subarray(0, bytes.length - cut))).toThrow(
            expect.objectContaining({ code: "INVALID_BLOCK_BYTES" }),
          );
        }
      }),
    );
  });

  test("A header alone has no transactions, whatever it announces.", () => {
    const bytes = encodeHeader({ ...fields, numberOfTransactions: 7 }, livenet);
    expect(slicesOf(bytes).transactions).toEqual([]);
  });

  test("An excessive number of transactions is refused at once.", () => {
    const bytes = encodeFrame({ ...fields, numberOfTransactions: 0xffffffff }, [new Uint8Array(9)], livenet);
    expect(() => slicesOf(bytes)).toThrow(expect.objectContaining({ code: "INVALID_BLOCK_BYTES" }));
  });
});

describe("block ids", () => {
  test("Property: the decimal and the hexadecimal form of a partial id agree.", () => {
    fc.assert(
      fc.property(u64, (value) => {
        const idHex = partialIdToHex(value.toString());
        expect(idHex).toMatch(/^[0-9a-f]{16}$/);
        expect(BigInt(`0x${idHex}`)).toBe(value);
        expect(partialIdFromHex(idHex)).toBe(value.toString());
      }),
    );
  });

  test.each(["18446744073709551616", "99999999999999999999", "ea3bb53abc9c2d61", "-1", "1.5", " 1", "0x10"])(
    "%j is not a partial id",
    (text) => {
      expect(() => partialIdToHex(text)).toThrow(expect.objectContaining({ code: "BlockSchemaError" }));
    },
  );

  test("Property: the scheme of a block id is that of its own height.", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const hash = sha256(bytes);
        expect(blockIdOf(bytes, 3_999_999, unitnet)).toEqual(partialIdOf(hash));
        expect(blockIdOf(bytes, 4_000_000, unitnet)).toEqual(fullIdOf(hash));
      }),
    );
  });

  test("Exactly eight bytes are a partial id, in reverse order.", () => {
    const hash = Uint8Array.from({ length: 32 }, (_, index) => index);
    expect(partialIdOf(hash)).toEqual({ id: "506097522914230528", idHex: "0706050403020100" });
    expect(hash[0]).toBe(0);
  });
});

describe("listed exceptions", () => {
  const full = "ab".repeat(32);
  const transactions = ["01", "02"].map((byte) => byte.repeat(32));
  const exceptions = { blocks: [full, "12", "13"], blocksTransactions: { "12": transactions } };
  const network = createNetwork({ ...presets.livenet, exceptions });

  test.each([
    [full, [], true],
    ["cd".repeat(32), [], false],
    ["12", transactions, true],
    ["12", transactions.toReversed(), true],
    ["12", transactions.slice(1), false],
    ["12", [...transactions, present(transactions[0], "an item of transactions")], false],
    [
      "12",
      [
        present(transactions[0], "an item of transactions"),
        present(transactions[0], "an item of transactions"),
      ],
      false,
    ],
    // A partial id without entry never counts.
    ["13", [], false],
  ])("%s with %j: %s", (id, transactionIds, expected) => {
    expect(isBlockException(id, transactionIds, network)).toBe(expected);
  });
});

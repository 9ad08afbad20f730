import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteReader, ByteWriter } from "../../src/bytes/cursor.ts";
import { hexToBytes, utf8ToBytes } from "../../src/index.ts";

describe("reading", () => {
  test("Property: the cursor reads written values unchanged.", () => {
    const u = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 });
    const members = fc.tuple(
      u(8),
      u(16),
      u(32),
      fc.bigInt(0n, 2n ** 64n - 1n),
      fc.integer({ min: -32768, max: 32767 }),
    );
    fc.assert(
      fc.property(members, fc.string({ unit: "grapheme", maxLength: 8 }), ([a, b, c, d, e], text) => {
        const writer = new ByteWriter();
        writer.u8(a);
        writer.u16(b);
        writer.u32(c);
        writer.u64(d);
        writer.i16(e);
        writer.hex("0aff", 2);
        writer.shortText(text);
        const reader = new ByteReader(writer.finish());
        expect([reader.u8(), reader.u16(), reader.u32(), reader.u64(), reader.i16()]).toEqual([
          a,
          b,
          c,
          d,
          e,
        ]);
        expect(reader.hex(2)).toBe("0aff");
        expect(reader.text(reader.u8())).toBe(text);
        expect(reader.remaining()).toBe(0);
      }),
    );
  });

  test("A writer extends its buffer, and its result is kept when the next one reuses the memory.", () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(lengths, { maxLength: 4 }), (writers) => {
        const written = writers.map((parts, index) => {
          const writer = new ByteWriter();
          for (const length of parts) writer.bytes(new Uint8Array(length).fill(index + 1));
          return writer.finish();
        });
        const expected = writers.map((parts, index) =>
          new Uint8Array(parts.reduce((sum, length) => sum + length, 0)).fill(index + 1),
        );
        expect(written).toEqual(expected);
      }),
    );
  });

  test("Two writers at a time do not share their memory.", () => {
    const [first, second] = [new ByteWriter(), new ByteWriter()];
    first.u8(1);
    second.u8(2);
    expect([first.finish(), second.finish()]).toEqual([Uint8Array.of(1), Uint8Array.of(2)]);
  });

  test("Missing bytes are an error, and the cursor does not move.", () => {
    const reader = new ByteReader(Uint8Array.of(1, 2));
    expect(() => reader.u32()).toThrow(RangeError);
    expect(() => reader.skip(3)).toThrow(RangeError);
    expect(reader.position()).toBe(0);
    expect([reader.peek(), reader.peek(1), reader.peek(2)]).toEqual([1, 2, undefined]);
    expect(reader.u16()).toBe(0x0201);
  });

  test("Ill-formed UTF-8 becomes U+FFFD, a byte order mark stays.", () => {
    const read = (hex: string) => new ByteReader(hexToBytes(hex)).text(hex.length / 2);
    expect(read("61c3")).toBe("a�");
    expect(read("efbbbf61")).toBe("\ufeffa");
    expect(utf8ToBytes("\ud800")).toEqual(hexToBytes("efbfbd"));
  });

  test("Property: characters are code points of well-formed UTF-8.", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 8 }), (text) => {
        const reader = new ByteReader(utf8ToBytes(text));
        expect(reader.characters([...text].length)).toBe(text);
        expect(reader.remaining()).toBe(0);
      }),
    );
  });

  test("Ill-formed characters are read leniently.", () => {
    const read = (hex: string, count = 1) => new ByteReader(hexToBytes(hex)).characters(count);
    expect(read("c1a1")).toBe("a");
    expect(read("c328")).toBe("è");
    expect(read("eda080")).toBe("\ud800");
    // Beyond the last code point.
    expect(read("f4908080")).toBe("\udc00\udc00");
    expect(() => read("80")).toThrow(RangeError);
    expect(() => read("f8")).toThrow(RangeError);
    expect(() => read("e282")).toThrow(RangeError);
    expect(() => read("61", 2)).toThrow(RangeError);
  });
});

describe("writing", () => {
  test("Numbers are taken modulo their width.", () => {
    const writer = new ByteWriter();
    writer.u8(257);
    writer.u16(65_538);
    writer.u32(2 ** 32 + 3);
    writer.u64(-1n);
    expect(writer.finish()).toEqual(hexToBytes("01020003000000ffffffffffffffff"));
  });

  test("Hexadecimal must have the required length.", () => {
    const writer = new ByteWriter();
    expect(() => writer.hex("00", 2)).toThrow(RangeError);
    expect(() => writer.hex("0g")).toThrow(RangeError);
    expect(() => writer.hex("000")).toThrow(RangeError);
    writer.hex("aAbB", 2);
    writer.hexPrefix("01zz02");
    writer.hexPrefix("zz");
    expect(writer.finish()).toEqual(hexToBytes("aabb01"));
  });
});

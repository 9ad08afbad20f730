/** Frames and the messages in them (p2p.md 2.2, 2.3). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeCloseFrame, encodeFrame, encodeTextFrame } from "../../../src/peers/wire/frames/encode.ts";
import { OPCODES } from "../../../src/peers/wire/frames/frame.ts";
import { createFrameReader, type FrameReader } from "../../../src/peers/wire/frames/read.ts";
import { codeOf, survives } from "./hostile.ts";

const MASK = Uint8Array.of(1, 2, 3, 4);
const MAX_BYTES = 1_000_000;
const fromClient = (maxBytes = MAX_BYTES) => createFrameReader({ isMasked: true, maxBytes });
const fromServer = (maxBytes = MAX_BYTES) => createFrameReader({ isMasked: false, maxBytes });
const readAll = (reader: FrameReader, bytes: Uint8Array) => [...reader.read(bytes)];
const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes);
const utf8 = (text: string) => new TextEncoder().encode(text);

test("writes the length in its shortest form", () => {
  const head = (length: number) => [...encodeTextFrame("x".repeat(length)).subarray(0, 10)];
  expect(head(125).slice(0, 2)).toEqual([0x81, 125]);
  expect(head(126).slice(0, 4)).toEqual([0x81, 126, 0, 126]);
  expect(head(65_535).slice(0, 4)).toEqual([0x81, 126, 255, 255]);
  expect(head(65_536)).toEqual([0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
  expect([...encodeCloseFrame(4009)]).toEqual([0x88, 2, 0x0f, 0xa9]);
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.constantFrom("", "é".repeat(33_000), "x".repeat(70_000)),
);
const maskKey = fc.option(fc.uint8Array({ minLength: 4, maxLength: 4 }), { nil: undefined });

test("reads what was written, in whatever fragments and pieces it comes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, fc.array(fc.nat(70_000), { maxLength: 4 })), { maxLength: 4 }),
      maskKey,
      fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 20 }),
      (messages, key, sizes) => {
        const stream = Buffer.concat(messages.flatMap(([message, cuts]) => fragments(message, cuts, key)));
        const reader = key ? fromClient() : fromServer();
        const received = piecesOf(stream, sizes).flatMap((piece) => readAll(reader, piece));
        expect(received).toEqual(messages.map(([message]) => ({ kind: "text", text: message })));
      },
    ),
    { numRuns: 60 },
  );
});

function fragments(message: string, cuts: number[], key: Uint8Array | undefined): Uint8Array[] {
  const payload = utf8(message);
  const ends = [...cuts.filter((cut) => cut < payload.length).sort((a, b) => a - b), payload.length];
  return ends.map((end, index) =>
    encodeFrame({
      opcode: index === 0 ? OPCODES.text : OPCODES.continuation,
      payload: payload.subarray(ends[index - 1] ?? 0, end),
      isFinal: index === ends.length - 1,
      ...(key && { maskKey: key }),
    }),
  );
}

function piecesOf(stream: Uint8Array, sizes: number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let [at, turn] = [0, 0]; at < stream.length; turn++) {
    const end = at + sizes[turn % sizes.length]!;
    pieces.push(stream.subarray(at, end));
    at = end;
  }
  return pieces;
}

test("reads a stream byte by byte", () => {
  const stream = Buffer.concat([
    ...fragments("#2 in pieces", [3, 3, 7], MASK),
    encodeTextFrame("y".repeat(300), MASK),
    encodeCloseFrame(1000, MASK),
  ]);
  const reader = fromClient();
  const received = [...stream].flatMap((byte) => readAll(reader, bytesOf(byte)));
  expect(received).toEqual([
    { kind: "text", text: "#2 in pieces" },
    { kind: "text", text: "y".repeat(300) },
    { kind: "close", closeCode: 1000 },
  ]);
});

test("reads a close frame between fragments, and nothing behind it", () => {
  const [first, second] = fragments("ab", [1], undefined);
  const stream = Buffer.concat([first!, encodeCloseFrame(1000), second!]);
  expect(readAll(fromServer(), stream)).toEqual([{ kind: "close", closeCode: 1000 }]);
  expect(readAll(fromServer(), bytesOf(0x88, 0))).toEqual([{ kind: "close", closeCode: undefined }]);
});

test("hands out the messages before a broken one, and ignores what follows it", () => {
  const reader = fromServer();
  const received: unknown[] = [];
  const stream = Buffer.concat([encodeTextFrame("good"), bytesOf(0x89, 0), encodeTextFrame("late")]);
  const code = codeOf(() => {
    for (const message of reader.read(stream)) received.push(message);
  });
  expect(code).toBe("FRAME_CONTROL");
  expect(received).toEqual([{ kind: "text", text: "good" }]);
  expect(readAll(reader, encodeTextFrame("later"))).toEqual([]);
});

describe("refuses", () => {
  test.each([
    ["a WebSocket ping", [0x89, 0x00], "FRAME_CONTROL"],
    ["a WebSocket pong", [0x8a], "FRAME_CONTROL"],
    ["a binary frame", [0x82], "FRAME_BINARY"],
    ["compressed text", [0xc1], "FRAME_UNKNOWN"],
    ["the second reserved bit", [0xa1], "FRAME_UNKNOWN"],
    ["the third reserved bit", [0x91], "FRAME_UNKNOWN"],
    ["an unknown opcode", [0x83], "FRAME_UNKNOWN"],
    ["a mask from a server", [0x81, 0x80], "FRAME_MASK"],
    ["a continuation of nothing", [0x80, 0x00], "FRAME_ORDER"],
    ["a new text within one", [0x01, 0x00, 0x01, 0x00], "FRAME_ORDER"],
    ["a split close frame", [0x08, 0x02, 0x03, 0xe8], "FRAME_ORDER"],
    ["a long close frame", [0x88, 0x7e], "FRAME_ORDER"],
    ["a close frame with half a code", [0x88, 0x01, 0x03], "FRAME_CLOSE"],
    ["a close frame with a code that is never sent", [0x88, 0x02, 0x03, 0xed], "FRAME_CLOSE"],
    ["a close frame with a code beyond all", [0x88, 0x02, 0x13, 0x88], "FRAME_CLOSE"],
    ["text that is no UTF-8", [0x81, 0x01, 0xff], "MESSAGE_ENCODING"],
  ])("%s", (_name, bytes, code) => {
    expect(codeOf(() => readAll(fromServer(), Uint8Array.from(bytes)))).toBe(code);
  });

  test("a client's frame without mask", () => {
    expect(codeOf(() => readAll(fromClient(), bytesOf(0x81, 0x02)))).toBe("FRAME_MASK");
  });

  test("a message above the limit, at the head of its frame", () => {
    expect(readAll(fromServer(4), encodeTextFrame("four"))).toHaveLength(1);
    expect(codeOf(() => readAll(fromServer(4), bytesOf(0x81, 5)))).toBe("MESSAGE_TOO_LARGE");
    const huge = bytesOf(0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255);
    expect(codeOf(() => readAll(fromServer(), huge))).toBe("MESSAGE_TOO_LARGE");
    const split = Buffer.concat([...fragments("12345", [3], undefined)]);
    expect(codeOf(() => readAll(fromServer(4), split))).toBe("MESSAGE_TOO_LARGE");
  });

  test("by a limit that was changed", () => {
    const reader = fromServer(4);
    reader.setMaxBytes(5);
    expect(readAll(reader, encodeTextFrame("12345"))).toHaveLength(1);
    reader.setMaxBytes(4);
    expect(codeOf(() => readAll(reader, encodeTextFrame("12345")))).toBe("MESSAGE_TOO_LARGE");
  });
});

test("any bytes give messages or the typed error, and no text above the limit", () => {
  const noise = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.uint8Array({ maxLength: 200 }).map((payload) => encodeFrame({ opcode: OPCODES.text, payload })),
    fc
      .tuple(fc.constantFrom(0x01, 0x81, 0x80, 0x88), fc.uint8Array({ maxLength: 200 }))
      .map(([first, rest]) => Buffer.concat([bytesOf(first), rest])),
  );
  fc.assert(
    fc.property(fc.array(noise, { maxLength: 8 }), fc.boolean(), (pieces, isMasked) => {
      const reader = createFrameReader({ isMasked, maxBytes: 100 });
      for (const piece of pieces) {
        const received = survives(() => readAll(reader, piece));
        if (!Array.isArray(received)) continue;
        for (const message of received) {
          if (message.kind === "text") expect(utf8(message.text).length).toBeLessThanOrEqual(100);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("an announced length takes no memory, and neither do empty fragments", () => {
  const announced = bytesOf(0x01, 127, 0, 0, 0, 0, 0x01, 0x40, 0, 0);
  const before = process.memoryUsage().arrayBuffers;
  const readers = Array.from({ length: 1000 }, () => fromServer(21_010_240));
  for (const reader of readers) readAll(reader, announced);
  const fragmented = fromServer();
  const empty = Buffer.concat([bytesOf(0x01, 0), ...Array(50_000).fill(bytesOf(0x00, 0))]);
  readAll(fragmented, empty);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10_000_000);
});

/** Writes little-endian layouts. Numbers are written modulo their width. */
import { fromHex } from "#primitives";
import { hexToBytes, utf8ToBytes } from "../crypto/bytes.ts";

/** A growing byte string. */
export type ByteWriter = {
  u8(value: number): void;
  i16(value: number): void;
  u16(value: number): void;
  u32(value: number): void;
  u64(value: bigint): void;
  bytes(value: Uint8Array): void;
  /**
   * The bytes of a hexadecimal text.
   *
   * @throws {RangeError} if it is no hexadecimal text of `length` bytes
   */
  hex(value: string, length?: number): void;
  /** The bytes of a text up to its first pair of characters that is not hexadecimal. */
  hexPrefix(value: string): void;
  /** The length in one byte, then the UTF-8. */
  shortText(value: string): void;
  /** A copy of the written bytes. Nothing is written after it. */
  finish(): Uint8Array;
};

const CAPACITY = 512;
/** Writers come one after another: each begins with the memory of the one that finished before, up to this size. */
const MAX_SPARE = 65_536;
let spare: Uint8Array | undefined;

export function createWriter(): ByteWriter {
  let buffer = spare ?? new Uint8Array(CAPACITY);
  spare = undefined;
  let view = new DataView(buffer.buffer);
  let length = 0;

  /** Extends the buffer and returns the offset to write at. */
  function advance(size: number): number {
    const at = length;
    length += size;
    if (length > buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * buffer.length));
      larger.set(buffer.subarray(0, at));
      buffer = larger;
      view = new DataView(buffer.buffer);
    }
    return at;
  }
  const bytes = (value: Uint8Array) => {
    const at = advance(value.length);
    buffer.set(value, at);
  };
  const u8 = (value: number) => {
    const at = advance(1);
    view.setUint8(at, value);
  };
  return {
    u8,
    bytes,
    i16: (value) => {
      const at = advance(2);
      view.setInt16(at, value, true);
    },
    u16: (value) => {
      const at = advance(2);
      view.setUint16(at, value, true);
    },
    u32: (value) => {
      const at = advance(4);
      view.setUint32(at, value, true);
    },
    u64: (value) => {
      const at = advance(8);
      view.setBigUint64(at, value, true);
    },
    hex: (value, size) => {
      const decoded = hexToBytes(value);
      if (size !== undefined && decoded.length !== size) {
        throw new RangeError(`${size} bytes of hexadecimal text expected, got ${decoded.length}`);
      }
      bytes(decoded);
    },
    hexPrefix: (value) => bytes(fromHex(value)),
    shortText: (value) => {
      // Most transactions have no text.
      if (value === "") return u8(0);
      const encoded = utf8ToBytes(value);
      u8(encoded.length);
      bytes(encoded);
    },
    finish() {
      const written = buffer.slice(0, length);
      if (buffer.length <= MAX_SPARE) spare = buffer;
      return written;
    },
  };
}

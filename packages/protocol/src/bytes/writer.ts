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
   * Writes the bytes of a hexadecimal text.
   *
   * @throws {RangeError} if it is not a hexadecimal text of `length` bytes
   */
  hex(value: string, length?: number): void;
  /** The bytes of a text up to its first pair of characters that is not hexadecimal. */
  hexPrefix(value: string): void;
  /** The length in one byte, then the UTF-8. */
  shortText(value: string): void;
  /** A copy of the written bytes. Nothing is written after it. */
  finish(): Uint8Array;
};

const NO_BYTES = new Uint8Array(0);
const CAPACITY = 512;
/** Size up to which a writer reuses the memory of the writer that finished before it. */
const MAX_SPARE = 65_536;
let spare: { readonly buffer: Uint8Array; readonly view: DataView } | undefined;

export const createWriter = (): ByteWriter => new Writer();

/** A class for the reason of the reader's. */
class Writer implements ByteWriter {
  private buffer: Uint8Array;
  private view: DataView;
  private length = 0;

  constructor() {
    this.buffer = spare?.buffer ?? new Uint8Array(CAPACITY);
    this.view = spare?.view ?? new DataView(this.buffer.buffer);
    spare = undefined;
  }

  /** Extends the buffer and returns the offset to write at. */
  private advance(size: number): number {
    const at = this.length;
    this.length += size;
    if (this.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.length, 2 * this.buffer.length));
      larger.set(this.buffer.subarray(0, at));
      this.buffer = larger;
      this.view = new DataView(larger.buffer);
    }
    return at;
  }

  // `advance` may replace the view, so it is called first.
  u8(value: number): void {
    const at = this.advance(1);
    this.view.setUint8(at, value);
  }
  i16(value: number): void {
    const at = this.advance(2);
    this.view.setInt16(at, value, true);
  }
  u16(value: number): void {
    const at = this.advance(2);
    this.view.setUint16(at, value, true);
  }
  u32(value: number): void {
    const at = this.advance(4);
    this.view.setUint32(at, value, true);
  }
  u64(value: bigint): void {
    const at = this.advance(8);
    this.view.setBigUint64(at, value, true);
  }
  bytes(value: Uint8Array): void {
    const at = this.advance(value.length);
    this.buffer.set(value, at);
  }
  hex(value: string, size?: number): void {
    const decoded = hexToBytes(value);
    if (size !== undefined && decoded.length !== size) {
      throw new RangeError(`${size} bytes of hexadecimal text expected, got ${decoded.length}`);
    }
    this.bytes(decoded);
  }
  hexPrefix(value: string): void {
    this.bytes(fromHex(value));
  }
  shortText(value: string): void {
    // Most transactions have no text.
    const encoded = value === "" ? NO_BYTES : utf8ToBytes(value);
    this.u8(encoded.length);
    this.bytes(encoded);
  }
  finish(): Uint8Array {
    const written = this.buffer.slice(0, this.length);
    if (this.buffer.length <= MAX_SPARE) spare = { buffer: this.buffer, view: this.view };
    return written;
  }
}

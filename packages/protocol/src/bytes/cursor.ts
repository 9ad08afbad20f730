/** Reads and writes little-endian layouts. */
import { fromHex, toHex } from "#primitives";
import { hexToBytes, utf8ToBytes } from "../crypto/bytes.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A cursor over bytes. Every method that reads moves it and throws RangeError when bytes are missing. A class, because each
 * transaction has a reader: a closure for each of its methods would cost a kilobyte of memory.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  private offset = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  private advance(length: number): number {
    const at = this.offset;
    const left = this.bytes.length - at;
    if (length > left) throw new RangeError(`${length} bytes expected, ${left} left`);
    this.offset = at + length;
    return at;
  }

  position(): number {
    return this.offset;
  }
  remaining(): number {
    return this.bytes.length - this.offset;
  }
  /** Moves the cursor forward. */
  skip(length: number): void {
    this.advance(length);
  }
  u8(): number {
    return this.view.getUint8(this.advance(1));
  }
  i16(): number {
    return this.view.getInt16(this.advance(2), true);
  }
  u16(): number {
    return this.view.getUint16(this.advance(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.advance(4), true);
  }
  u64(): bigint {
    return this.view.getBigUint64(this.advance(8), true);
  }
  /** Returns a view, not a copy. */
  take(length: number): Uint8Array {
    const at = this.advance(length);
    return this.bytes.subarray(at, at + length);
  }
  /** Lower-case hexadecimal of `length` bytes. */
  hex(length: number): string {
    const at = this.advance(length);
    return toHex(this.bytes, at, at + length);
  }
  /** UTF-8 of `length` bytes; ill-formed sequences become U+FFFD, a byte order mark stays. */
  text(length: number): string {
    return decoder.decode(this.take(length));
  }
  /** A text of `count` code points; see `decodeCharacter`. */
  characters(count: number): string {
    let text = "";
    for (let i = 0; i < count; i++) text += decodeCharacter(() => this.u8());
    return text;
  }
  /** The byte at `ahead` from the cursor, if there is one; the cursor stays. */
  peek(ahead = 0): number | undefined {
    return this.bytes[this.offset + ahead];
  }
}

/**
 * One character of lenient UTF-8: the first byte has the number of bytes that follow, which have six bits each
 * whatever their upper bits are. Overlong and ill-formed sequences are accepted.
 *
 * @throws {RangeError} if the first byte begins no character
 */
function decodeCharacter(nextByte: () => number): string {
  const lead = nextByte();
  if (lead < 0x80) return String.fromCharCode(lead);
  const following = lead >> 5 === 0b110 ? 1 : lead >> 4 === 0b1110 ? 2 : lead >> 3 === 0b11110 ? 3 : 0;
  if (following === 0) throw new RangeError(`invalid UTF-8: no character begins with the byte ${lead}`);
  let codePoint = lead & (0x3f >> following);
  for (let i = 0; i < following; i++) codePoint = (codePoint << 6) | (nextByte() & 0x3f);
  if (codePoint <= 0xffff) return String.fromCharCode(codePoint);
  // Beyond Unicode, the first half is no longer a high surrogate; the text is the result of the arithmetic.
  const offset = codePoint - 0x10000;
  return String.fromCharCode(0xd800 + (offset >> 10), 0xdc00 + (offset & 0x3ff));
}

const NO_BYTES = new Uint8Array(0);
const CAPACITY = 512;
/** Size up to which a writer reuses the memory of the writer that finished before it. */
const MAX_SPARE = 65_536;
let spare: { readonly buffer: Uint8Array; readonly view: DataView } | undefined;

/** A growing byte string. Numbers are written modulo their width. */
export class ByteWriter {
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
  /**
   * Writes the bytes of a hexadecimal text.
   *
   * @throws {RangeError} if it is not a hexadecimal text of `size` bytes
   */
  hex(value: string, size?: number): void {
    const decoded = hexToBytes(value);
    if (size !== undefined && decoded.length !== size) {
      throw new RangeError(`${size} bytes of hexadecimal text expected, got ${decoded.length}`);
    }
    this.bytes(decoded);
  }
  /** The bytes of a text up to its first pair of characters that is not hexadecimal. */
  hexPrefix(value: string): void {
    this.bytes(fromHex(value));
  }
  /** The length in one byte, then the UTF-8. */
  shortText(value: string): void {
    // Most transactions have no text.
    const encoded = value === "" ? NO_BYTES : utf8ToBytes(value);
    this.u8(encoded.length);
    this.bytes(encoded);
  }
  /** A copy of the written bytes. Nothing is written after it. */
  finish(): Uint8Array {
    const written = this.buffer.slice(0, this.length);
    if (this.buffer.length <= MAX_SPARE) spare = { buffer: this.buffer, view: this.view };
    return written;
  }
}

/** Reads little-endian layouts. */
import { toHex } from "#primitives";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A cursor over bytes. Every `read…` moves it and throws RangeError when bytes are missing. */
export type ByteReader = {
  readonly bytes: Uint8Array;
  position(): number;
  remaining(): number;
  /** Moves the cursor forward. */
  skip(length: number): void;
  u8(): number;
  i16(): number;
  u16(): number;
  u32(): number;
  u64(): bigint;
  /** Returns a view, not a copy. */
  take(length: number): Uint8Array;
  /** Lower-case hexadecimal of `length` bytes. */
  hex(length: number): string;
  /** UTF-8 of `length` bytes; ill-formed sequences become U+FFFD, a byte order mark stays. */
  text(length: number): string;
  /** A text of `count` code points; see `decodeCharacter`. */
  characters(count: number): string;
  /** The byte at `offset` from the cursor, if there is one; the cursor stays. */
  peek(offset?: number): number | undefined;
};

export const createReader = (bytes: Uint8Array): ByteReader => new Reader(bytes);

/**
 * A class, because each transaction has a reader: a closure for each of its methods would cost a kilobyte of
 * memory.
 */
class Reader implements ByteReader {
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
  take(length: number): Uint8Array {
    const at = this.advance(length);
    return this.bytes.subarray(at, at + length);
  }
  hex(length: number): string {
    const at = this.advance(length);
    return toHex(this.bytes, at, at + length);
  }
  text(length: number): string {
    return decoder.decode(this.take(length));
  }
  characters(count: number): string {
    let text = "";
    for (let i = 0; i < count; i++) text += decodeCharacter(() => this.u8());
    return text;
  }
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

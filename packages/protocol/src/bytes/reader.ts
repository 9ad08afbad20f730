/** Reads little-endian layouts. */
import { bytesToHex } from "../crypto/bytes.ts";

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
  /** A view, not a copy. */
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

export function createReader(bytes: Uint8Array): ByteReader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;
  const advance = (length: number): number => {
    const at = offset;
    if (at + length > bytes.length)
      throw new RangeError(`${length} bytes expected, ${bytes.length - at} left`);
    offset += length;
    return at;
  };
  const take = (length: number) => {
    const at = advance(length);
    return bytes.subarray(at, at + length);
  };
  return {
    bytes,
    position: () => offset,
    remaining: () => bytes.length - offset,
    skip: (length) => void advance(length),
    u8: () => view.getUint8(advance(1)),
    i16: () => view.getInt16(advance(2), true),
    u16: () => view.getUint16(advance(2), true),
    u32: () => view.getUint32(advance(4), true),
    u64: () => view.getBigUint64(advance(8), true),
    take,
    hex: (length) => bytesToHex(take(length)),
    text: (length) => decoder.decode(take(length)),
    characters: (count) => {
      let text = "";
      for (let i = 0; i < count; i++) text += decodeCharacter(() => view.getUint8(advance(1)));
      return text;
    },
    peek: (ahead = 0) => bytes[offset + ahead],
  };
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
  if (following === 0) throw new RangeError(`no character begins with the byte ${lead}`);
  let codePoint = lead & (0x3f >> following);
  for (let i = 0; i < following; i++) codePoint = (codePoint << 6) | (nextByte() & 0x3f);
  if (codePoint <= 0xffff) return String.fromCharCode(codePoint);
  // Beyond Unicode the first half is no high surrogate any more; the text is what arithmetic makes of it.
  const offset = codePoint - 0x10000;
  return String.fromCharCode(0xd800 + (offset >> 10), 0xdc00 + (offset & 0x3ff));
}

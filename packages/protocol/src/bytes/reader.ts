/** Reading of little-endian layouts. */
import { bytesToHex } from "../crypto/bytes.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A cursor over bytes. Every `read…` moves it and throws RangeError when bytes are missing. */
export type ByteReader = {
  readonly bytes: Uint8Array;
  position(): number;
  remaining(): number;
  /** Moves the cursor forward without looking. */
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
  /** The byte `offset` places ahead, if there is one; the cursor stays. */
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
    peek: (ahead = 0) => bytes[offset + ahead],
  };
}

/** Codecs of messages: their text, compact JSON with byte strings as wrapper objects (p2p.md 3.1), and packed blocks. */
import { StringDecoder } from "node:string_decoder";
import { MAX_PACKED_BLOCKS } from "./limits.ts";

/** An object whose members are not validated yet. */
export type UntrustedRecord = Record<string, unknown>;

/** Returns true if a decoded value is an object, and not a list or a byte string. */
export const isRecord = (value: unknown): value is UntrustedRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);

/** Returns true if an object has no other members than these. */
export const hasOnly = (record: UntrustedRecord, ...names: readonly string[]): boolean =>
  Object.keys(record).every((name) => names.includes(name));

/** A byte string as JSON. */
type WrappedBytes = { base64: true; data: string };

/** Omits members that are undefined; a `Uint8Array` at any depth is a byte string. */
export const encodeValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, wrapBytes);

/** Reads the member from its parent, since `toJSON` of a Buffer has already replaced the value. */
function wrapBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const original = this[key];
  if (!(original instanceof Uint8Array)) return value;
  const { buffer, byteOffset, length } = original;
  return { base64: true, data: Buffer.from(buffer, byteOffset, length).toString("base64") };
}

/** Returns the value of a text: the parsed JSON if it begins like an object or a list, otherwise the text itself. */
export function decodeValue(text: string): unknown {
  if (!/^[ \n\r\t]*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text, unwrapBytes);
  } catch {
    return parsed(text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the bytes that an object represents, or the value itself. */
export function unwrapBytes(_key: string, value: unknown): unknown {
  if (!isWrappedBytes(value)) return value;
  const { buffer, byteOffset, length } = Buffer.from(value.data, "base64");
  return new Uint8Array(buffer, byteOffset, length);
}

const isWrappedBytes = (value: unknown): value is WrappedBytes =>
  typeof value === "object" &&
  value !== null &&
  (value as Partial<WrappedBytes>).base64 === true &&
  typeof (value as Partial<WrappedBytes>).data === "string";

/** Bytes of a decoding step: less than a millisecond. */
const STEP = 1024 * 1024;

/**
 * Decodes UTF-8, a long message in steps. The first step of a long message is empty: the event-loop tick that received
 * it has joined, unmasked and checked its bytes.
 */
export function* decodeText(data: Buffer): Generator<void, string> {
  if (data.length <= STEP) return data.toString();
  const decoder = new StringDecoder("utf8");
  let text = "";
  for (let at = 0; at < data.length; at += STEP) {
    yield;
    text += decoder.write(data.subarray(at, at + STEP));
  }
  return text + decoder.end();
}

/** Joins blocks to one byte string: before each, its length as u32 little endian. */
export function packBlocks(blocks: readonly Uint8Array[]): Uint8Array {
  const length = blocks.reduce((total, block) => total + 4 + block.length, 0);
  const packed = new Uint8Array(length);
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const block of blocks) {
    view.setUint32(at, block.length, true);
    packed.set(block, at + 4);
    at += 4 + block.length;
  }
  return packed;
}

/** Undefined if a block is truncated, or there are too many. The blocks share the memory of `packed`. */
export function unpackBlocks(packed: Uint8Array): Uint8Array[] | undefined {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const blocks: Uint8Array[] = [];
  let at = 0;
  while (at < packed.length) {
    if (at + 4 > packed.length) return undefined;
    const end = at + 4 + view.getUint32(at, true);
    if (end > packed.length || blocks.length === MAX_PACKED_BLOCKS) return undefined;
    blocks.push(packed.subarray(at + 4, end));
    at = end;
  }
  return blocks;
}

/** Codecs of messages: their text, which is guarded before it is parsed, compact JSON with byte strings as wrapper objects (p2p.md 3.1), and packed blocks. */
import { StringDecoder } from "node:string_decoder";
import {
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COMMA,
  type Complexity,
  endOfString,
  exceededBound,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTATION_MARK,
} from "../../platform/json/external.ts";
import { MAX_PACKED_BLOCKS } from "./limits.ts";
import { WireError } from "./wire-error.ts";

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

export type JsonRules = Complexity & {
  /** Rejects repeated and empty keys, and exponents in numbers. */
  readonly isStrict: boolean;
};

/** An open object or list: the keys seen so far of an object. */
type Open = { readonly keys: Set<string> | undefined; expectsKey: boolean };

/**
 * Checks the text of a message before it is parsed: its complexity and, for messages to a server, the rules that are stricter than JSON
 * (p2p.md 6.2 point 5). It does not check that the text is JSON: the parser does.
 *
 * @throws {WireError} MESSAGE_COMPLEXITY, MESSAGE_JSON
 */
export function guardJson(text: string, rules: JsonRules): void {
  const exceeded = exceededBound(text, rules);
  if (exceeded) throw new WireError("MESSAGE_COMPLEXITY", `above ${exceeded}, ${rules[exceeded]}`);
  if (rules.isStrict) checkStrictly(text);
}

/** @throws {WireError} MESSAGE_JSON */
function checkStrictly(text: string): void {
  const open: Open[] = [];

  const checkKey = (keys: Set<string>, literal: string) => {
    const key = keyOf(literal);
    if (key === "") throw new WireError("MESSAGE_JSON", "a key is empty");
    if (keys.has(key)) throw new WireError("MESSAGE_JSON", "a key is repeated");
    keys.add(key);
  };

  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case OPENING_BRACE:
        open.push({ keys: new Set(), expectsKey: true });
        break;
      case OPENING_BRACKET:
        open.push({ keys: undefined, expectsKey: false });
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        open.pop();
        break;
      case COMMA: {
        const innermost = open.at(-1);
        if (innermost?.keys) innermost.expectsKey = true;
        break;
      }
      case QUOTATION_MARK: {
        const innermost = open.at(-1);
        const end = endOfString(text, at);
        if (innermost?.keys && innermost.expectsKey) checkKey(innermost.keys, text.slice(at, end + 1));
        if (innermost) innermost.expectsKey = false;
        at = end;
        break;
      }
      case SMALL_E:
      case CAPITAL_E:
        // The letter also occurs in true and false, where no digit precedes it.
        if (at > 0 && isOfNumber(text.charCodeAt(at - 1))) {
          throw new WireError("MESSAGE_JSON", "a number has an exponent");
        }
    }
  }
}

const SMALL_E = 0x65;
const CAPITAL_E = 0x45;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

const isOfNumber = (code: number): boolean => code === DOT || (code >= ZERO && code <= NINE);

/** A key without escape sequences. */
const IS_PLAIN = /^"[\w.:-]*"$/;

function keyOf(literal: string): string {
  if (IS_PLAIN.test(literal)) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new WireError("MESSAGE_JSON", "a key is not a JSON string");
  }
}

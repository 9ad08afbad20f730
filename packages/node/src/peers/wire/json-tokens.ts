/** Tokens of a JSON text, read in steps: every step is bounded by the number of characters that it reads. */
import { unwrapBytes } from "./codec.ts";
import { WireError } from "./error.ts";

/** Characters of a step: about a millisecond. */
const STEP = 64 * 1024;
/** Characters of a step for which a value or a member counts, beside its own. */
const VALUE = 32;
/** Characters of a key; longer ones would be copied and hashed in one step. */
const MAX_KEY = 1024;
/** Characters of a string with escapes, as written. Longer strings in messages are bytes, which have none. */
const MAX_ESCAPED = STEP;

/** The end of a string, an escape, or a control character, which a string must not have. */
const SPECIAL = /["\\]|[^ -\uffff]/;
/** Longer numbers are refused: nothing in a message has so many digits. */
const SCALAR = /true|false|null|-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?([eE][+-]?\d{1,400})?/y;
/** A part of bytes in base64; the last one may end with padding. */
const BASE64 = /^[A-Za-z0-9+/]*$/;
const LAST_BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A position in a text. */
export type Cursor = {
  readonly text: string;
  at: number;
  /** Position at which the step ends. */
  stop: number;
};

export const createCursor = (text: string): Cursor => ({ text, at: 0, stop: STEP });

export const malformed = (what: string) => new WireError("MESSAGE_JSON", what);

const tooComplex = (what: string) => new WireError("MESSAGE_COMPLEXITY", what);

/** Ends the step if it has read its characters. */
export function* pause(cursor: Cursor): Generator<void, void> {
  if (cursor.at < cursor.stop) return;
  cursor.stop = cursor.at + STEP;
  yield;
}

/** Counts a value or a member in the step. */
export function charge(cursor: Cursor): void {
  cursor.stop -= VALUE;
}

/** Moves to the next character that is not blank, and returns it; an empty text at the end. */
export function* skipBlanks(cursor: Cursor): Generator<void, string> {
  const { text } = cursor;
  for (;;) {
    const { stop } = cursor;
    let { at } = cursor;
    while (at < stop && isBlank(text.charCodeAt(at))) at++;
    cursor.at = at;
    if (at < stop) return text.charAt(at);
    yield* pause(cursor);
  }
}

export function* readKey(cursor: Cursor): Generator<void, string> {
  if (cursor.text.charAt(cursor.at++) !== '"') throw malformed("a key is missing");
  const start = cursor.at;
  const key = yield* readString(cursor);
  if (cursor.at - start > MAX_KEY) throw tooComplex(`a key has more than ${MAX_KEY} characters`);
  return key;
}

/** Reads a string, beginning after its first quotation mark. */
export function* readString(cursor: Cursor): Generator<void, string> {
  const { text, at: start } = cursor;
  for (;;) {
    const window = text.slice(cursor.at, cursor.at + STEP);
    if (window === "") throw malformed("a string does not end");
    const found = window.search(SPECIAL);
    cursor.at += found === -1 ? window.length : found;
    const character = found === -1 ? "" : window.charAt(found);
    if (character === '"') return text.slice(start, cursor.at++);
    if (character === "\\") return readEscaped(cursor, start);
    if (character !== "") throw malformed("a string has a control character");
    yield* pause(cursor);
  }
}

/** Reads a string that has an escape at the cursor. */
function readEscaped(cursor: Cursor, start: number): string {
  const { text } = cursor;
  const limit = Math.min(text.length, start + MAX_ESCAPED);
  let { at } = cursor;
  while (at < limit && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  if (at >= limit) {
    throw limit === text.length
      ? malformed("a string does not end")
      : tooComplex(`a string with escapes has more than ${MAX_ESCAPED} characters`);
  }
  cursor.at = at + 1;
  try {
    return JSON.parse(text.slice(start - 1, cursor.at)) as string;
  } catch {
    throw malformed("a string has an escape that does not exist");
  }
}

/** Reads a number, `true`, `false` or `null`. */
export function readScalar(cursor: Cursor, isStrict: boolean): unknown {
  SCALAR.lastIndex = cursor.at;
  const found = SCALAR.exec(cursor.text);
  if (!found) throw malformed("a value is missing");
  if (found[1] !== undefined && isStrict) throw malformed("a number has an exponent");
  cursor.at += found[0].length;
  return JSON.parse(found[0]);
}

/**
 * The bytes that an object stands for, or the value itself. Long bytes are decoded in steps; their text must be
 * as encoders write it.
 */
export function* unwrapGradually(value: Record<string, unknown>): Generator<void, unknown> {
  const { base64, data } = value;
  if (base64 !== true || typeof data !== "string" || data.length <= STEP) return unwrapBytes("", value);
  const bytes = Buffer.allocUnsafe(Math.ceil(data.length / 4) * 3);
  let length = 0;
  for (let at = 0; at < data.length; at += STEP) {
    const part = data.slice(at, at + STEP);
    const isLast = at + STEP >= data.length;
    if (!(isLast ? LAST_BASE64 : BASE64).test(part)) throw malformed("bytes are not in base64");
    length += bytes.write(part, length, "base64");
    yield;
  }
  return new Uint8Array(bytes.buffer, bytes.byteOffset, length);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

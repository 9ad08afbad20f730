/**
 * Parses the text of a long message in steps, between which other work of the thread runs. The result is that
 * of the codec for a text that obeys the rules, which are checked during parsing. Every step is
 * bounded by the number of characters that it reads.
 */
import { present } from "../../platform/present.ts";
import { type JsonRules, unwrapBytes } from "./codec.ts";
import { WireError } from "./wire-error.ts";

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

/** Members of one object; no message has one with more than a hundred. */
const MAX_MEMBERS = 1_000;

/** A position in a text. */
type Cursor = {
  readonly text: string;
  at: number;
  /** Position at which the step ends. */
  stop: number;
};

type Container = {
  readonly value: unknown[] | Record<string, unknown>;
  key: string | undefined;
  members: number;
};

type Parser = {
  readonly cursor: Cursor;
  readonly rules: JsonRules;
  /** Number of values so far. */
  values: number;
  /** Objects and lists that are not closed, the innermost last. */
  readonly stack: Container[];
  result: unknown;
};

/** @throws {WireError} MESSAGE_COMPLEXITY, MESSAGE_JSON */
export function* parseGradually(text: string, rules: JsonRules): Generator<void, unknown> {
  const cursor: Cursor = { text, at: 0, stop: STEP };
  const parser: Parser = { cursor, rules, values: 0, stack: [], result: undefined };
  const first = yield* skipBlanks(cursor);
  if (first !== "{" && first !== "[") throw malformed("a message is not JSON");
  while ((yield* readValue(parser)) || (yield* readEnds(parser))) yield* pause(cursor);
  if ((yield* skipBlanks(cursor)) !== "") throw malformed("the message continues after its JSON value");
  return parser.result;
}

/** Puts the next value, or opens it. Returns true if it was opened and has members or items. */
function* readValue(parser: Parser): Generator<void, boolean> {
  const { cursor, rules } = parser;
  const character = yield* skipBlanks(cursor);
  if (character === '"') {
    cursor.at++;
    put(parser, yield* readString(cursor));
    return false;
  }
  if (character !== "{" && character !== "[") {
    put(parser, readScalar(cursor, rules.isStrict));
    return false;
  }
  cursor.at++;
  const container = open(parser, character === "{" ? {} : []);
  if ((yield* skipBlanks(cursor)) === closingOf(container)) {
    yield* close(parser);
    return false;
  }
  if (!Array.isArray(container.value)) yield* readMember(parser, container);
  return true;
}

/** Closes the objects and lists that end after a value. Returns true if another value follows. */
function* readEnds(parser: Parser): Generator<void, boolean> {
  const { cursor, stack } = parser;
  for (let container = stack.at(-1); container; container = stack.at(-1)) {
    const character = yield* skipBlanks(cursor);
    if (character === ",") {
      cursor.at++;
      countValue(parser);
      yield* skipBlanks(cursor);
      if (!Array.isArray(container.value)) yield* readMember(parser, container);
      return true;
    }
    if (character !== closingOf(container)) throw malformed("a comma is missing");
    yield* close(parser);
  }
  return false;
}

/** Reads the key of a member and its colon. */
function* readMember({ cursor, rules }: Parser, container: Container): Generator<void, void> {
  const key = yield* readKey(cursor);
  if (rules.isStrict && key === "") throw malformed("a key is empty");
  if (rules.isStrict && Object.hasOwn(container.value, key)) throw malformed("a key is repeated");
  container.key = key;
  if (++container.members > MAX_MEMBERS) {
    throw new WireError("MESSAGE_COMPLEXITY", `an object has more than ${MAX_MEMBERS} members`);
  }
  if ((yield* skipBlanks(cursor)) !== ":") throw malformed("a colon is missing");
  cursor.at++;
}

function open(parser: Parser, value: Container["value"]): Container {
  const { stack, rules } = parser;
  countValue(parser);
  const container: Container = { value, key: undefined, members: 0 };
  stack.push(container);
  if (stack.length > rules.maxDepth) {
    throw new WireError("MESSAGE_COMPLEXITY", `above maxDepth, ${rules.maxDepth}`);
  }
  return container;
}

function* close(parser: Parser): Generator<void, void> {
  parser.cursor.at++;
  const { value } = present(parser.stack.pop(), "a container");
  put(parser, Array.isArray(value) ? value : yield* unwrapGradually(value));
}

function put(parser: Parser, value: unknown): void {
  const innermost = parser.stack.at(-1);
  if (!innermost) parser.result = value;
  else if (Array.isArray(innermost.value)) innermost.value.push(value);
  else define(innermost.value, present(innermost.key, "a key"), value);
}

function countValue(parser: Parser): void {
  charge(parser.cursor);
  const { maxValues } = parser.rules;
  if (++parser.values > maxValues) {
    throw new WireError("MESSAGE_COMPLEXITY", `above maxValues, ${maxValues}`);
  }
}

const closingOf = ({ value }: Container): string => (Array.isArray(value) ? "]" : "}");

/** Sets a member as the parser of JSON does: `__proto__` is a name like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

const malformed = (what: string) => new WireError("MESSAGE_JSON", what);

const tooComplex = (what: string) => new WireError("MESSAGE_COMPLEXITY", what);

/** Ends the step if it has read its characters. */
function* pause(cursor: Cursor): Generator<void, void> {
  if (cursor.at < cursor.stop) return;
  cursor.stop = cursor.at + STEP;
  yield;
}

/** Counts a value or a member in the step. */
function charge(cursor: Cursor): void {
  cursor.stop -= VALUE;
}

/** Moves to the next character that is not blank, and returns it; an empty text at the end. */
function* skipBlanks(cursor: Cursor): Generator<void, string> {
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

function* readKey(cursor: Cursor): Generator<void, string> {
  if (cursor.text.charAt(cursor.at++) !== '"') throw malformed("a key is missing");
  const start = cursor.at;
  const key = yield* readString(cursor);
  if (cursor.at - start > MAX_KEY) throw tooComplex(`a key has more than ${MAX_KEY} characters`);
  return key;
}

/** Reads a string, beginning after its first quotation mark. */
function* readString(cursor: Cursor): Generator<void, string> {
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
function readScalar(cursor: Cursor, isStrict: boolean): unknown {
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
function* unwrapGradually(value: Record<string, unknown>): Generator<void, unknown> {
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

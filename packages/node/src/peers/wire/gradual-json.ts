/**
 * Parses the text of a long message in steps, between which other work of the thread runs. The result is that
 * of the codec for a text that obeys the rules, which are checked during parsing.
 */

import { present } from "../../platform/present.ts";
import { unwrapBytes } from "./codec.ts";
import { WireError } from "./error.ts";
import type { JsonRules } from "./json-guard.ts";

/** Characters of a step: about a millisecond. */
const STEP = 64 * 1024;

/** Members of one object; no message has one with more than a hundred. */
const MAX_MEMBERS = 10_000;

type Container = {
  readonly value: unknown[] | Record<string, unknown>;
  key: string | undefined;
  members: number;
};

/** A control character, which a string must not have. */
const CONTROL = /[^ -\uffff]/;
const ESCAPES = /(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})){1,1000}/y;
/** Longer numbers are refused: no value of a message has that many digits. */
const SCALAR = /true|false|null|-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?([eE][+-]?\d{1,400})?/y;

const fault = (what: string) => new WireError("MESSAGE_JSON", what);

type Parser = {
  readonly text: string;
  readonly rules: JsonRules;
  /** Position in the text. */
  at: number;
  /** Position at which the step ends. */
  stop: number;
  /** Number of values so far. */
  values: number;
  /** Position of the next backslash, or of a previous one; the end of the text if none follows. */
  backslash: number;
  /** Objects and lists that are not closed, the innermost last. */
  readonly stack: Container[];
  result: unknown;
};

/** @throws {WireError} MESSAGE_COMPLEXITY, MESSAGE_JSON */
export function* parseGradually(text: string, rules: JsonRules): Generator<void, unknown> {
  const parser: Parser = {
    text,
    rules,
    at: 0,
    stop: STEP,
    values: 0,
    backslash: -1,
    stack: [],
    result: undefined,
  };
  const first = yield* skipBlanks(parser);
  if (first !== "{" && first !== "[") throw fault("a message is not JSON");
  while ((yield* readValue(parser)) || (yield* readEnds(parser))) {
    if (parser.at < parser.stop) continue;
    parser.stop = parser.at + STEP;
    yield;
  }
  if ((yield* skipBlanks(parser)) !== "") throw fault("the message continues after its JSON value");
  return parser.result;
}

/** Puts the next value, or opens it. Returns true if it was opened and has members or items. */
function* readValue(parser: Parser): Generator<void, boolean> {
  const character = yield* skipBlanks(parser);
  if (character === '"') {
    parser.at++;
    put(parser, yield* readString(parser));
    return false;
  }
  if (character !== "{" && character !== "[") {
    put(parser, readScalar(parser));
    return false;
  }
  parser.at++;
  const container = open(parser, character === "{" ? {} : []);
  if ((yield* skipBlanks(parser)) === closingOf(container)) {
    close(parser);
    return false;
  }
  if (!Array.isArray(container.value)) yield* readKey(parser, container);
  return true;
}

/** Closes the objects and lists that end after a value. Returns true if another value follows. */
function* readEnds(parser: Parser): Generator<void, boolean> {
  const { stack } = parser;
  for (let container = stack.at(-1); container; container = stack.at(-1)) {
    const character = yield* skipBlanks(parser);
    if (character === ",") {
      parser.at++;
      countValue(parser);
      yield* skipBlanks(parser);
      if (!Array.isArray(container.value)) yield* readKey(parser, container);
      return true;
    }
    if (character !== closingOf(container)) throw fault("a comma is missing");
    close(parser);
  }
  return false;
}

function* readKey(parser: Parser, container: Container): Generator<void, void> {
  const { rules } = parser;
  if (parser.text.charAt(parser.at++) !== '"') throw fault("a key is missing");
  const key = yield* readString(parser);
  if (rules.isStrict && key === "") throw fault("a key is empty");
  if (rules.isStrict && Object.hasOwn(container.value, key)) throw fault("a key is repeated");
  container.key = key;
  if (++container.members > MAX_MEMBERS) {
    throw new WireError("MESSAGE_COMPLEXITY", `an object has more than ${MAX_MEMBERS} members`);
  }
  if ((yield* skipBlanks(parser)) !== ":") throw fault("a colon is missing");
  parser.at++;
}

/** Reads a string, beginning after its first quotation mark. */
function* readString(parser: Parser): Generator<void, string> {
  const { text } = parser;
  const pieces: string[] = [];
  let quote = -1;
  for (;;) {
    if (quote < parser.at) quote = indexFrom(text, '"', parser.at);
    if (quote === text.length) throw fault("a string does not end");
    if (parser.backslash < parser.at) parser.backslash = indexFrom(text, "\\", parser.at);
    const end = Math.min(quote, parser.backslash, parser.at + STEP);
    const plain = text.slice(parser.at, end);
    if (CONTROL.test(plain)) throw fault("a string has a control character");
    parser.at = end;
    if (end === quote) {
      parser.at++;
      if (pieces.length === 0) return plain;
      pieces.push(plain);
      return pieces.join("");
    }
    pieces.push(plain);
    if (end === parser.backslash) pieces.push(readEscapes(parser));
    if (parser.at >= parser.stop) {
      parser.stop = parser.at + STEP;
      yield;
    }
  }
}

/** Reads up to a thousand escapes that follow each other. */
function readEscapes(parser: Parser): string {
  const escapes = match(parser, ESCAPES);
  if (!escapes) throw fault("a string has an escape that does not exist");
  return JSON.parse(`"${escapes[0]}"`) as string;
}

function readScalar(parser: Parser): unknown {
  const found = match(parser, SCALAR);
  if (!found) throw fault("a value is missing");
  if (found[1] !== undefined && parser.rules.isStrict) throw fault("a number has an exponent");
  return JSON.parse(found[0]);
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

function close(parser: Parser): void {
  parser.at++;
  put(parser, unwrapBytes("", present(parser.stack.pop(), "a container").value));
}

function put(parser: Parser, value: unknown): void {
  const innermost = parser.stack.at(-1);
  if (!innermost) parser.result = value;
  else if (Array.isArray(innermost.value)) innermost.value.push(value);
  else define(innermost.value, present(innermost.key, "a key"), value);
}

function countValue(parser: Parser): void {
  const { maxValues } = parser.rules;
  if (++parser.values > maxValues) {
    throw new WireError("MESSAGE_COMPLEXITY", `above maxValues, ${maxValues}`);
  }
}

/** Moves to the next character that is not blank, and returns it; an empty text at the end. */
function* skipBlanks(parser: Parser): Generator<void, string> {
  const { text } = parser;
  for (;;) {
    let { at } = parser;
    const end = at + STEP;
    while (at < end && isBlank(text.charCodeAt(at))) at++;
    parser.at = at;
    if (at < end) return text.charAt(at);
    yield;
  }
}

function match(parser: Parser, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = parser.at;
  const found = pattern.exec(parser.text);
  parser.at += found?.[0].length ?? 0;
  return found;
}

/** Index of a character, or the end of the text. */
function indexFrom(text: string, character: string, from: number): number {
  const index = text.indexOf(character, from);
  return index === -1 ? text.length : index;
}

const closingOf = ({ value }: Container): string => (Array.isArray(value) ? "]" : "}");

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Sets a member as the parser of JSON does: `__proto__` is a name like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

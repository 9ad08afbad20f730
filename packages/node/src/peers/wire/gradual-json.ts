/**
 * Parses the text of a long message in steps, between which other work of the thread runs. The result is that
 * of the codec for a text that obeys the rules, which are checked during parsing.
 */

import { present } from "../../platform/present.ts";
import { WireError } from "./error.ts";
import type { JsonRules } from "./json-guard.ts";
import {
  type Cursor,
  charge,
  createCursor,
  malformed,
  pause,
  readKey,
  readScalar,
  readString,
  skipBlanks,
  unwrapGradually,
} from "./json-tokens.ts";

/** Members of one object; no message has one with more than a hundred. */
const MAX_MEMBERS = 1_000;

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
  const cursor = createCursor(text);
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

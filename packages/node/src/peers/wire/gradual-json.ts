/**
 * Parses the text of a long message in steps, between which other work of the thread runs. The result is that
 * of the codec for a text that obeys the rules, which are checked during parsing.
 */
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
/** Longer ones are refused: nothing in a message has so many digits. */
const SCALAR = /true|false|null|-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?([eE][+-]?\d{1,400})?/y;

const fault = (what: string) => new WireError("MESSAGE_JSON", what);

/** @throws {WireError} MESSAGE_COMPLEXITY, MESSAGE_JSON */
export function* parseGradually(text: string, rules: JsonRules): Generator<void, unknown> {
  const stack: Container[] = [];
  let at = 0;
  let stop = STEP;
  let values = 0;
  /** The next one in the text. */
  let backslash = -1;
  let result: unknown;

  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  }

  /** The next character that is not blank. */
  function* next(): Generator<void, string> {
    for (;;) {
      const end = at + STEP;
      while (at < end && isBlank(text.charCodeAt(at))) at++;
      if (at < end) return text.charAt(at);
      yield;
    }
  }

  function countValue(): void {
    if (++values > rules.maxValues) {
      throw new WireError("MESSAGE_COMPLEXITY", `above maxValues, ${rules.maxValues}`);
    }
  }

  /** Reads a string, beginning after its first quotation mark. */
  function* readString(): Generator<void, string> {
    const pieces: string[] = [];
    let quote = -1;
    for (;;) {
      if (quote < at) quote = indexFrom('"', at);
      if (quote === text.length) throw fault("a string does not end");
      if (backslash < at) backslash = indexFrom("\\", at);
      const end = Math.min(quote, backslash, at + STEP);
      const plain = text.slice(at, end);
      if (CONTROL.test(plain)) throw fault("a string has a control character");
      at = end;
      if (at === quote && pieces.length === 0) return closeString(plain);
      pieces.push(plain);
      if (at === quote) return closeString(pieces.join(""));
      if (at === backslash) {
        const escapes = match(ESCAPES);
        if (!escapes) throw fault("a string has an escape that does not exist");
        pieces.push(JSON.parse(`"${escapes[0]}"`) as string);
      }
      if (at >= stop) {
        stop = at + STEP;
        yield;
      }
    }
  }

  function closeString(value: string): string {
    at++;
    return value;
  }

  /** Index of a character, or the end of the text. */
  function indexFrom(character: string, from: number): number {
    const index = text.indexOf(character, from);
    return index === -1 ? text.length : index;
  }

  function readScalar(): unknown {
    const found = match(SCALAR);
    if (!found) throw fault("a value is missing");
    if (found[1] !== undefined && rules.isStrict) throw fault("a number has an exponent");
    return JSON.parse(found[0]);
  }

  function open(value: Container["value"]): void {
    countValue();
    stack.push({ value, key: undefined, members: 0 });
    if (stack.length > rules.maxDepth) {
      throw new WireError("MESSAGE_COMPLEXITY", `above maxDepth, ${rules.maxDepth}`);
    }
  }

  function* readKey(container: Container): Generator<void, void> {
    if (text.charAt(at++) !== '"') throw fault("a key is missing");
    const key = yield* readString();
    if (rules.isStrict && key === "") throw fault("a key is empty");
    if (rules.isStrict && Object.hasOwn(container.value, key)) throw fault("a key is repeated");
    container.key = key;
    if (++container.members > MAX_MEMBERS) {
      throw new WireError("MESSAGE_COMPLEXITY", `an object has more than ${MAX_MEMBERS} members`);
    }
    if ((yield* next()) !== ":") throw fault("a colon is missing");
    at++;
  }

  function put(value: unknown): void {
    const innermost = stack.at(-1);
    if (!innermost) result = value;
    else if (Array.isArray(innermost.value)) innermost.value.push(value);
    else define(innermost.value, innermost.key!, value);
  }

  /** Puts the next value, or opens it. Returns true if it was opened and has members or items. */
  function* readValue(): Generator<void, boolean> {
    const character = yield* next();
    if (character !== "{" && character !== "[") {
      if (character !== '"') put(readScalar());
      else {
        at++;
        put(yield* readString());
      }
      return false;
    }
    at++;
    open(character === "{" ? {} : []);
    const container = stack.at(-1)!;
    if ((yield* next()) === closingOf(container)) {
      close();
      return false;
    }
    if (!Array.isArray(container.value)) yield* readKey(container);
    return true;
  }

  function close(): void {
    at++;
    put(unwrapBytes("", stack.pop()!.value));
  }

  /** Closes the objects and lists that end after a value. Returns true if another value follows. */
  function* readEnds(): Generator<void, boolean> {
    for (let container = stack.at(-1); container; container = stack.at(-1)) {
      const character = yield* next();
      if (character === ",") {
        at++;
        countValue();
        yield* next();
        if (!Array.isArray(container.value)) yield* readKey(container);
        return true;
      }
      if (character !== closingOf(container)) throw fault("a comma is missing");
      close();
    }
    return false;
  }

  const first = yield* next();
  if (first !== "{" && first !== "[") throw fault("a message is no JSON");
  while ((yield* readValue()) || (yield* readEnds())) {
    if (at < stop) continue;
    stop = at + STEP;
    yield;
  }
  if ((yield* next()) !== "") throw fault("something follows the message");
  return result;
}

const closingOf = ({ value }: Container): string => (Array.isArray(value) ? "]" : "}");

const isBlank = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Sets a member as the parser of JSON does: `__proto__` is a name like any other. */
function define(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

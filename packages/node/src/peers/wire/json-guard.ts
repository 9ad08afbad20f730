/**
 * Checks the text of a message before it is parsed: its complexity and, for messages to a server, the rules that are
 * stricter than JSON (p2p.md 6.2 point 5). It does not check that the text is JSON: the parser does.
 */
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
import { WireError } from "./wire-error.ts";

export type JsonRules = Complexity & {
  /** Rejects repeated and empty keys, and exponents in numbers. */
  readonly isStrict: boolean;
};

/** An open object or list: the keys seen so far of an object. */
type Open = { readonly keys: Set<string> | undefined; expectsKey: boolean };

/** @throws {WireError} MESSAGE_COMPLEXITY, MESSAGE_JSON */
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

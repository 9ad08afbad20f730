/**
 * A look over the text of a message before it is parsed: how complex it is and, for what a server receives, the rules
 * that are stricter than JSON (p2p.md 6.2, 5). Whether it is JSON at all is for the parser to say: of other texts the
 * answer means nothing.
 */
import { type Complexity, endOfString, exceededBound } from "../../json/complexity.ts";
import { WireError } from "./error.ts";

export type JsonRules = Complexity & {
  /** Refuses repeated and empty keys, and exponents in numbers. */
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
    const innermost = open.at(-1);
    switch (text[at]) {
      case "{":
        open.push({ keys: new Set(), expectsKey: true });
        break;
      case "[":
        open.push({ keys: undefined, expectsKey: false });
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        if (innermost?.keys) innermost.expectsKey = true;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (innermost?.keys && innermost.expectsKey) checkKey(innermost.keys, text.slice(at, end + 1));
        if (innermost) innermost.expectsKey = false;
        at = end;
        break;
      }
      case "e":
      case "E":
        // The letter also stands in true and false, where no digit comes before it.
        if (/[0-9.]/.test(text[at - 1] ?? "")) {
          throw new WireError("MESSAGE_JSON", "a number has an exponent");
        }
    }
  }
}

function keyOf(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new WireError("MESSAGE_JSON", "a key is no JSON string");
  }
}

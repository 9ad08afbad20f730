/**
 * A look over the text of a message before it is parsed, without building anything: how complex it is and, for what a
 * server receives, the rules that are stricter than JSON (p2p.md 6.2, 5). Whether it is JSON at all is for the parser
 * to say: of other texts the answer means nothing.
 */
import { WireError } from "./error.ts";

export type JsonRules = {
  maxDepth: number;
  /** Members and elements of everything. */
  maxValues: number;
  /** Refuses repeated and empty keys, and exponents in numbers. */
  isStrict: boolean;
};

/** An open object or list: the keys seen so far, where they matter. */
type Open = { readonly keys: Set<string> | undefined; expectsKey: boolean };

/** @throws {WireError} MESSAGE_COMPLEXITY, MESSAGE_JSON */
export function guardJson(text: string, { maxDepth, maxValues, isStrict }: JsonRules): void {
  const open: Open[] = [];
  let values = 0;

  const countValue = () => {
    if (++values > maxValues) throw new WireError("MESSAGE_COMPLEXITY", `more than ${maxValues} values`);
  };

  const enter = (isObject: boolean) => {
    countValue();
    if (open.length >= maxDepth) throw new WireError("MESSAGE_COMPLEXITY", `nested deeper than ${maxDepth}`);
    open.push({ keys: isObject && isStrict ? new Set() : undefined, expectsKey: isObject });
  };

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
        enter(true);
        break;
      case "[":
        enter(false);
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        countValue();
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
        if (isStrict && /[0-9.]/.test(text[at - 1] ?? "")) {
          throw new WireError("MESSAGE_JSON", "a number has an exponent");
        }
    }
  }
}

/** Index of the quotation mark that ends the string begun at `start`; the end of the text where there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

function keyOf(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new WireError("MESSAGE_JSON", "a key is no JSON string");
  }
}

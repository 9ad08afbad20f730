/**
 * How complex a JSON text is, found by one look over it before it is parsed, which builds nothing: a text of a megabyte
 * can stand for lists within lists that no thread can copy, or for values that take twenty times its memory.
 */

/**
 * Of every body of a request. The deepest that means anything is a transaction with lists in its asset, ten levels; no
 * list of payments to one recipient after another has more values within a megabyte.
 */
export const BODY_COMPLEXITY: Complexity = { maxDepth: 64, maxValues: 50_000 };

/** Characters with a meaning of their own. */
export const QUOTATION_MARK = 0x22;
export const COMMA = 0x2c;
export const OPENING_BRACKET = 0x5b;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

export type Complexity = {
  /** Objects and lists within one another. */
  readonly maxDepth: number;
  /** Objects, lists, and the members and items that a comma separates from others. */
  readonly maxValues: number;
};

/**
 * The bound that a text exceeds first; undefined where it keeps to both. Whether it is JSON at all is for the parser to
 * say: of other texts the answer means nothing.
 */
export function exceededBound(
  text: string,
  { maxDepth, maxValues }: Complexity,
): keyof Complexity | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTATION_MARK:
        at = endOfString(text, at);
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        if (++depth > maxDepth) return "maxDepth";
        if (++values > maxValues) return "maxValues";
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        depth--;
        break;
      case COMMA:
        if (++values > maxValues) return "maxValues";
    }
  }
  return undefined;
}

/** Index of the quotation mark that ends the string begun at `start`; the end of the text where there is none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * The complexity of a JSON text, found by one scan before parsing, without building values. A text of one megabyte can
 * nest lists so deeply that they cannot be copied between threads, or hold values that take twenty times its memory.
 */

/**
 * Bounds of every request body. The deepest valid body is a transaction with lists in its asset: ten levels. The valid
 * body with the most values within a megabyte, a list of payments, is within this bound.
 */
export const BODY_COMPLEXITY: Complexity = { maxDepth: 64, maxValues: 50_000 };

/** Character codes of the JSON syntax. */
export const QUOTATION_MARK = 0x22;
export const COMMA = 0x2c;
export const OPENING_BRACKET = 0x5b;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const CLOSING_BRACE = 0x7d;

export type Complexity = {
  /** Maximum nesting of objects and lists. */
  readonly maxDepth: number;
  /** Maximum number of objects, lists, and members and items that a comma separates. */
  readonly maxValues: number;
};

/**
 * Returns the bound that a text exceeds first; undefined if it exceeds none. The result is meaningful for JSON only: the
 * parser checks whether the text is JSON.
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

/**
 * Returns the index of the quotation mark that ends the string begun at `start`; the end of the text if there
 * is none.
 */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

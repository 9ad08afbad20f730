/** Text formats of PostgreSQL: arrays, and rows of `COPY`. */

/**
 * Formats an array; returns undefined if it has elements that are not numbers, booleans, texts or null. The driver would quote and escape
 * each element, which costs a tenth of a delivery.
 */
export function arrayText(values: readonly unknown[]): string | undefined {
  let text = "";
  let separator = "{";
  for (const value of values) {
    text += separator;
    if (typeof value === "string") text += quoted(value);
    else if (value === null) text += "NULL";
    else if (typeof value === "number" || typeof value === "boolean") text += value;
    else return undefined;
    separator = ",";
  }
  return `${text === "" ? "{" : text}}`;
}

const SPECIAL = /["\\]/;

const quoted = (text: string): string =>
  SPECIAL.test(text) ? `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"` : `"${text}"`;

/** Formats a row of `COPY`, which consists of numbers, booleans, texts, bytes and nulls, as one line. */
export const copyLine = (row: readonly unknown[]): string => `${row.map(field).join("\t")}\n`;

function field(value: unknown): string {
  if (value === null) return "\\N";
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString("hex")}`;
  return String(value).replace(/[\\\t\n\r]/g, escaped);
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const escaped = (character: string): string => ESCAPES[character] ?? character;

/** Rows in the text format of `COPY`. */
import type { PostgresValue } from "./connection.ts";

/** Formats a row as one line. */
export const copyLine = (row: readonly PostgresValue[]): string => `${row.map(field).join("\t")}\n`;

function field(value: PostgresValue): string {
  if (value === null) return "\\N";
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString("hex")}`;
  return String(value).replace(/[\\\t\n\r]/g, escaped);
}

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const escaped = (character: string): string => ESCAPES[character] ?? character;

/** Rows of a list as text for a file, made while the list is read. */

export type Format = "csv" | "json";
export type Cells = Readonly<Record<string, string | number>>;

/** Rows of one file: what a spreadsheet takes, and a memory that a browser has. */
export const MAX_ROWS = 100_000;

/** The parts of a file, in order: its head, each row, its end. */
export async function* partsOf(rows: AsyncIterable<Cells>, format: Format): AsyncGenerator<string> {
  let count = 0;
  for await (const row of rows) {
    if (format === "json") yield `${count === 0 ? "[\n" : ",\n"}${JSON.stringify(row)}`;
    else yield `${count === 0 ? `${lineOf(Object.keys(row))}\n` : ""}${lineOf(Object.values(row))}\n`;
    if (++count === MAX_ROWS) break;
  }
  if (format === "json") yield count === 0 ? "[]\n" : "\n]\n";
}

const lineOf = (cells: readonly (string | number)[]): string => cells.map(cellOf).join(",");

/**
 * A value with quotes where it needs them (RFC 4180). A spreadsheet takes a text that begins like a formula for one: such a text
 * of others gets an apostrophe before it.
 */
function cellOf(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : `${value}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Converts the rows of a list to text for a file while reading the list. */

export type Format = "csv" | "json";
export type Cells = Readonly<Record<string, string | number>>;

/** Maximum number of rows of a file, bounded by spreadsheets and browser memory. */
export const MAX_ROWS = 100_000;

/** Yields the parts of a file in order: head, rows, end. */
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
 * Quotes a value if necessary (RFC 4180). Foreign text that begins like a formula gets a leading apostrophe, so that
 * spreadsheets do not execute it.
 */
function cellOf(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : `${value}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Encodes each row, and each page of rows, as one text with a separator between the fields. The driver spends more time on a column
 * or a row than on its values: a page of 100 rows has 1 value instead of 1,700.
 *
 * Text of PostgreSQL cannot contain U+0000, so that texts which may are stored as bytes, and `jsonb` refuses U+0000 and lone surrogates. No
 * stored text contains a lone surrogate. For `jsonb`, U+0000 is written as U+0001 and a digit, and U+0001 itself with another digit,
 * so that different texts stay different.
 */

/** Characters that no field contains, because JSON escapes control characters and bytes are hexadecimal. */
const SEPARATOR = "\x1f";
const NULL = "\x1e";

/** SQL of the text of a row, and the conversion of the text to a row. */
export type RowText<Row> = {
  /** SQL of the columns. */
  readonly columns: readonly string[];
  /** SQL of the column `fields`. */
  readonly sql: string;
  readonly read: (selected: RowFields) => Row;
  /** Converts the texts of the columns; further texts are ignored. */
  readonly fromFields: (fields: readonly string[]) => Row;
};

/** A row as the driver returns it. */
export type RowFields = { readonly fields: string };

/** All rows of a page as the driver returns them; `fields` is null if there are none. */
export type PageFields = { readonly fields: string | null; readonly count: number };

type Fields<Columns extends readonly string[]> = { readonly [Index in keyof Columns]: string };

/**
 * Creates the text of a row.
 *
 * @param columns SQL of the columns, each of which is text or an integer, and never null
 * @param toRow converts the texts of the columns, in the same order
 */
export function rowText<const Columns extends readonly string[], Row>(
  columns: Columns,
  toRow: (fields: Fields<Columns>) => Row,
): RowText<Row> {
  const fromFields = toRow as (fields: readonly string[]) => Row;
  return {
    columns,
    sql: `${textOfColumns(columns)} AS fields`,
    read({ fields }) {
      const [row] = splitPage({ fields, count: 1 }, columns.length);
      return fromFields(row ?? []);
    },
    fromFields,
  };
}

const textOfColumns = (columns: readonly string[]) => `concat_ws(E'\\x1f', ${columns.join()})`;

/** Returns SQL of all rows as one text. */
export const textOfRows = (columns: readonly string[], order = ""): string =>
  `string_agg(${textOfColumns(columns)}, E'\\x1f' ${order})`;

/** Returns SQL of the columns `fields` and `count`: all rows of a page as one text. */
export const pageText = (columns: readonly string[], order: string): string =>
  `${textOfRows(columns, `ORDER BY ${order}`)} AS fields, count(*)::integer AS count`;

/** Splits the text of a page into the fields of its rows. */
export function splitPage({ fields, count }: PageFields, columns: number): string[][] {
  const rows = fields === null ? [] : splitRows(fields, columns);
  if (rows.length !== count) throw new Error(`${count} rows of ${columns} columns are ${rows.length}`);
  return rows;
}

/** Splits the text of rows into their fields. */
export function splitRows(text: string, columns: number): string[][] {
  const all = text.split(SEPARATOR);
  const count = all.length / columns;
  if (!Number.isInteger(count)) throw new Error(`rows of ${columns} columns have ${all.length} fields`);
  return Array.from({ length: count }, (_, row) => all.slice(row * columns, (row + 1) * columns));
}

/** Returns SQL of a column of text that can be null: `orNull` converts its text. */
export const nullable = (column: string) => `coalesce(${column}, E'\\x1e')`;
export const orNull = (field: string): string | null => (field === NULL ? null : field);

/** Returns SQL of a column of bytes: `bytesOfHex` converts its text. */
export const hex = (column: string) => `encode(${column}, 'hex')`;
export const bytesOfHex = (field: string): Uint8Array => Buffer.from(field, "hex");

/** Converts a column of bytes that contain text and can be null. */
export const textOfHex = (field: string): string | null =>
  field === NULL ? null : textOf(bytesOfHex(field));

export const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
export const textOrNull = (bytes: Uint8Array | null): string | null => bytes && textOf(bytes);
export const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/**
 * Escape sequences of stored texts, and their replacements. Escaped backslashes come first, so that a sequence after
 * one is not replaced.
 */
const ESCAPES: readonly (readonly [text: string, other: string])[] = [
  ["\\\\", "\\u005c"],
  ["\\u0001", "\\u00011"],
  ["\\u0000", "\\u00010"],
];

/** Returns SQL that converts a column with JSON text to `jsonb`. */
export const jsonOf = (column: string): string =>
  `${ESCAPES.reduce((sql, [text, other]) => `replace(${sql}, '${text}', '${other}')`, column)}::jsonb`;

/** Returns the text of a value for the comparison with such a column; undefined if no column can contain it. */
export function jsonText(value: object): string | undefined {
  const text = ESCAPES.reduce((json, [text, other]) => json.replaceAll(text, other), JSON.stringify(value));
  // The only other escapes of four digits are control characters and lone surrogates.
  return /\\ud[89a-f]/.test(text) ? undefined : text;
}

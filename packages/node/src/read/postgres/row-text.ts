/**
 * Encodes each row as one column of text, with a separator between its fields. The driver spends more time on a column
 * than on its value: a page of 100 rows has 100 values instead of 1,700.
 */
import { textOf } from "./bytes.ts";

/** Characters that no field contains, because JSON escapes control characters and bytes are hexadecimal. */
const SEPARATOR = "\x1f";
const NULL = "\x1e";

/** SQL of the text of a row, and the conversion of the text to a row. */
export type RowText<Row> = {
  /** SQL of the column `fields`. */
  readonly sql: string;
  readonly read: (selected: RowFields) => Row;
};

/** A row as the driver returns it. */
export type RowFields = { readonly fields: string };

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
  return {
    sql: `concat_ws(E'\\x1f', ${columns.join()}) AS fields`,
    read(selected) {
      const fields = selected.fields.split(SEPARATOR);
      if (fields.length !== columns.length) {
        throw new Error(`a row of ${columns.length} columns has ${fields.length} fields`);
      }
      return toRow(fields as Fields<Columns>);
    },
  };
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

/** Returns the only row of a statement that finds at most one. */
export async function firstOf<Row>(row: RowText<Row>, found: Promise<RowFields[]>): Promise<Row | undefined> {
  const [selected] = await found;
  return selected && row.read(selected);
}

/** Integers up to 2^63 in columns of results. */

/** Decimal text if it is not exact as a number. */
export type IntegerColumn = number | string;

/** Returns SQL of the column. The text of each integer would cost as much as three columns. */
export const integerColumn = (column: string, name: string): string =>
  `iif(${column} > ${Number.MAX_SAFE_INTEGER}, CAST(${column} AS TEXT), ${column}) AS ${name}`;

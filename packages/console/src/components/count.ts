/** Formats integers in the user's locale. Separate from `format.ts`, so that the first page loads less. */
const integers = new Intl.NumberFormat();

export const countText = (count: number | bigint): string => integers.format(count);

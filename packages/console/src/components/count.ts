/** Whole numbers, in the language of the reader: all that a page needs of the texts in `format.ts` before its screen. */
const integers = new Intl.NumberFormat();

export const countText = (count: number | bigint): string => integers.format(count);

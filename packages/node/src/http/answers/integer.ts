/**
 * Amounts in answers (http-api.md 5): text of digits nearly everywhere, and a JSON integer with all its digits,
 * also beyond 2^53, where interface.md 4 has an integer.
 */

// Part of every supported runtime; the compiler's library does not list it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Decimal digits as a JSON integer; JSON.stringify writes them as they are. */
export const integer = (digits: string): number => rawJSON(digits) as number;

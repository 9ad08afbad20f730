/**
 * Amounts in responses (http-api.md 5): decimal text nearly everywhere, and a JSON integer with all its digits,
 * also beyond 2^53, if interface.md 4 has an integer.
 */

// Every supported runtime has it; the compiler's library does not declare it yet.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Wraps decimal digits as a JSON integer, which JSON.stringify writes unchanged. */
export const integer = (digits: string): number => rawJSON(digits) as number;

/**
 * Difference between two texts: the part of the earlier one between a common beginning and a common end. Attributes of
 * wallets that own thousands of tokens are large, and a block changes a few characters of them.
 */

/** `prefix` and `suffix` are the numbers of characters that both texts share. */
export type Delta = { readonly prefix: number; readonly suffix: number; readonly middle: string };

/** Returns the difference from which `applyDelta` restores `before`, given `after`. */
export function deltaBetween(before: string, after: string): Delta {
  const shorter = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < shorter && before.charCodeAt(prefix) === after.charCodeAt(prefix)) prefix++;
  // SQLite cannot store half of a surrogate pair.
  if (isHighSurrogate(before, prefix - 1)) prefix--;
  let suffix = 0;
  const rest = shorter - prefix;
  const [last, other] = [before.length - 1, after.length - 1];
  while (suffix < rest && before.charCodeAt(last - suffix) === after.charCodeAt(other - suffix)) suffix++;
  if (isLowSurrogate(before, before.length - suffix)) suffix--;
  return { prefix, suffix, middle: before.slice(prefix, before.length - suffix) };
}

export const applyDelta = (after: string, { prefix, suffix, middle }: Delta): string =>
  after.slice(0, prefix) + middle + after.slice(after.length - suffix);

const isHighSurrogate = (text: string, index: number): boolean => /[\uD800-\uDBFF]/.test(text.charAt(index));
const isLowSurrogate = (text: string, index: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(index));

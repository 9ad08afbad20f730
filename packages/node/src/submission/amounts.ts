/** Amounts as text in tokens; one token is 10^8 of the smallest unit. */

const DECIMALS = 8;
/** Maximum of amounts and fees in a transaction. */
const MAX_UNITS = 2n ** 63n - 1n;

/**
 * Parses an amount in tokens such as `12.5`; the result is in the smallest unit.
 *
 * @throws {RangeError} for anything but digits with up to eight decimals
 */
export function unitsOf(tokens: string): bigint {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,8}))?$/.exec(tokens) ?? [];
  if (whole === undefined) {
    throw new RangeError("an amount in tokens with up to 8 decimals is expected, such as 12.5");
  }
  return BigInt(whole + fraction.padEnd(DECIMALS, "0"));
}

/**
 * Does the same as `unitsOf` for an amount or a fee of a transaction.
 *
 * @throws {RangeError} also for more than a transaction can hold
 */
export function spendableUnitsOf(tokens: string): bigint {
  // More digits than any amount has.
  const units = /^\d{13,}(\.\d{1,8})?$/.test(tokens) ? MAX_UNITS + 1n : unitsOf(tokens);
  if (units > MAX_UNITS) throw new RangeError(`at most ${tokensOf(MAX_UNITS)} tokens are expected`);
  return units;
}

/** An amount in tokens, without trailing zeros. */
export function tokensOf(units: bigint): string {
  const digits = `${units < 0n ? -units : units}`.padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}${fraction ? `.${fraction}` : ""}`;
}

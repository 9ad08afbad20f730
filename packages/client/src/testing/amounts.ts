/** Amounts of a scenario: decimal texts in tokens. */

const DECIMALS = 8;

/** Converts tokens, with or without a sign, to the smallest unit. The form has been checked. */
export function unitsOf(tokens: string): bigint {
  const [whole = "", fraction = ""] = tokens.replace(/^[+-]/, "").split(".");
  const units = BigInt(whole + fraction.padEnd(DECIMALS, "0"));
  return tokens.startsWith("-") ? -units : units;
}

/** Formats an amount in tokens, without trailing zeros. */
export function tokensOf(units: bigint): string {
  const digits = `${units < 0n ? -units : units}`.padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}${fraction && `.${fraction}`}`;
}

/** Formats amounts for display. */
const UNIT = 100_000_000n;

/** An amount in tokens: grouped, without trailing zeros. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNIT).toString().padStart(8, "0").replace(/0+$/, "");
  return `${sign}${(absolute / UNIT).toLocaleString("en-US")}${fraction ? `.${fraction}` : ""}`;
}

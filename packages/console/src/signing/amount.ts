/** Parses typed amounts strictly: ambiguous texts are refused. */
import { amountText, UNITS } from "../components/format.ts";

const DECIMALS = 8;
const MAX_UNITS = 2n ** 63n - 1n;

export type AmountReading =
  /** Amount in the smallest unit. */
  | { readonly amount: bigint; readonly fault?: undefined }
  | { readonly amount?: undefined; readonly fault: string };

/** @param text tokens, with a point before the decimals: `1000.5` */
export function readAmount(text: string): AmountReading {
  const typed = text.trim();
  if (typed === "") return { fault: "An amount is missing." };
  if (/[,\s'_]/.test(typed)) {
    return { fault: "Write it without separators, with a point before the decimals: 1000.5" };
  }
  if (typed.startsWith("-")) return { fault: "The amount must be more than 0." };
  const [, whole, decimals = ""] = /^(\d+)(?:\.(\d+))?$/.exec(typed) ?? [];
  if (whole === undefined) return { fault: "This is not an amount. Write digits, such as 12.5" };
  if (decimals.length > DECIMALS) return { fault: `A token has ${DECIMALS} decimals; this amount has more.` };
  const amount = BigInt(whole) * UNITS + BigInt(decimals.padEnd(DECIMALS, "0"));
  if (amount === 0n) return { fault: "The amount must be more than 0." };
  if (amount > MAX_UNITS) return { fault: `The amount must be at most ${amountText(MAX_UNITS)}.` };
  return { amount };
}

/** Formats an amount for `readAmount`, without trailing zeros: `1000.5`. */
export function plainAmount(amount: bigint): string {
  const decimals = `${amount % UNITS}`.padStart(DECIMALS, "0").replace(/0+$/, "");
  return `${amount / UNITS}${decimals && "."}${decimals}`;
}

/** An amount of tokens with all its significant decimals and the symbol, which wide tables have in the head instead. */
import { useNode } from "../data/node.ts";
import { amountText, UNITS } from "./format.ts";

export type AmountProps = {
  /** Amount in the smallest unit, as in the API. */
  readonly value: string | number | bigint;
};

export function Amount({ value }: AmountProps) {
  const { configuration } = useNode();
  return (
    <data class="amount" value={`${value}`}>
      {amountText(value)}
      <span class="symbol"> {configuration.value?.symbol}</span>
    </data>
  );
}

/** Converts `12.5` to the smallest unit; undefined if the text is not an amount. */
export function unitsOf(text: string): bigint | undefined {
  const [, whole, decimals = ""] = /^(\d{1,12})(?:[.,](\d{1,8}))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * UNITS + BigInt(decimals.padEnd(8, "0"));
}

/** Symbol of the token; empty until the configuration is loaded. */
export function useSymbol(): string {
  return useNode().configuration.value?.symbol ?? "";
}

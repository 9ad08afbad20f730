/** An amount of tokens with all its significant decimals. */
import { useNode } from "../data/node.ts";
import { amountText, UNITS } from "./format.ts";

export type AmountProps = {
  /** Smallest unit, as the API writes it. */
  readonly value: string | number | bigint;
  /** With the symbol of the token; tables have it in their heads. */
  readonly hasSymbol?: boolean;
};

export function Amount({ value, hasSymbol = false }: AmountProps) {
  const { configuration } = useNode();
  return (
    <data class="amount" value={`${value}`}>
      {amountText(value)}
      {hasSymbol && <span class="symbol"> {configuration.value?.symbol}</span>}
    </data>
  );
}

/** `12.5` in the smallest unit; undefined for what is no amount. */
export function unitsOf(text: string): bigint | undefined {
  const [, whole, decimals = ""] = /^(\d{1,12})(?:[.,](\d{1,8}))?$/.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * UNITS + BigInt(decimals.padEnd(8, "0"));
}

/** For the head of a column of amounts. */
export function useSymbol(): string {
  return useNode().configuration.value?.symbol ?? "";
}

/** An amount of tokens with all its significant decimals. */
import { useNode } from "../data/node.ts";
import { amountText } from "./format.ts";

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

/** For the head of a column of amounts. */
export function useSymbol(): string {
  return useNode().configuration.value?.symbol ?? "";
}

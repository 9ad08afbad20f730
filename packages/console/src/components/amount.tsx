/** An amount of tokens with all its decimals; zeros at the end stand back. */
import { useNode } from "../data/node.ts";
import { amountParts } from "./format.ts";

export type AmountProps = {
  /** Smallest unit, as the API writes it. */
  readonly value: string | number | bigint;
  /** With the symbol of the token; tables have it in their heads. */
  readonly hasSymbol?: boolean;
};

export function Amount({ value, hasSymbol = false }: AmountProps) {
  const { configuration } = useNode();
  const { sign, whole, separator, decimals, zeros } = amountParts(value);
  return (
    <data class="amount" value={`${value}`}>
      {sign}
      {whole}
      {decimals && separator + decimals}
      <span class="zeros">
        {!decimals && separator}
        {zeros}
      </span>
      {hasSymbol && <span class="symbol"> {configuration.value?.symbol}</span>}
    </data>
  );
}

/** For the head of a column of amounts. */
export function useSymbol(): string {
  return useNode().configuration.value?.symbol ?? "";
}

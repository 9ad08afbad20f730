/** Orders of the lists that databases sort, as terms. The last terms identify a row, so that pages do not overlap. */
import type { BalanceOrder, BlockOrder, TokenOrder, TransactionOrder, WalletOrder } from "./filters.ts";
import type { Direction } from "./page.ts";

/**
 * `absence` is 1 for rows without the value and 0 for others. The value after it is null exactly in the former. `bytes` is a text
 * with any characters; a `text` has neither U+0000 nor lone surrogates.
 */
export type TermKind = "integer" | "text" | "bytes" | "absence";

/** A term by the name of its value, for which each database has a column or an expression. */
export type NamedTerm<Name extends string = string> = {
  readonly name: Name;
  readonly kind: TermKind;
  readonly direction: Direction;
};

export type BlockTerm = Exclude<BlockOrder["field"], "timestamp">;
export type TransactionTerm = Exclude<TransactionOrder["field"], "timestamp"> | "height" | "sequence";
export type WalletTerm = WalletOrder["field"];
export type TokenTerm = TokenOrder["field"];

const term = <Name extends string>(name: Name, kind: TermKind, direction: Direction): NamedTerm<Name> => ({
  name,
  kind,
  direction,
});

export function blockTerms({ field, direction }: BlockOrder): NamedTerm<BlockTerm>[] {
  // Each block is later than its parent.
  if (field === "height" || field === "timestamp") return [term("height", "integer", direction)];
  return [term(field, "integer", direction), term("height", "integer", "desc")];
}

/** Ties are broken by the position in the chain, newest first. Absent vendorFields count as the highest. */
export function transactionTerms({
  field,
  direction,
  sequence = "desc",
}: TransactionOrder): NamedTerm<TransactionTerm>[] {
  const position = term("sequence", "integer", sequence);
  if (field === "timestamp") return [term("height", "integer", direction), position];
  const values =
    field === "vendorField"
      ? [term(field, "absence", direction), term(field, "bytes", direction)]
      : [term(field, "integer", direction)];
  return [...values, term("height", "integer", "desc"), position];
}

/** Wallets without a value come last in both directions, but count as 0 if the value is an amount. */
export function walletTerms({ field, direction }: WalletOrder): NamedTerm<WalletTerm>[] {
  switch (field) {
    case "address":
      return [term(field, "text", direction)];
    // With addresses in the same direction, an index has this order.
    case "balance":
    case "nonce":
      return [term(field, "integer", direction), term("address", "text", direction)];
    case "lockedBalance":
    case "voteBalance":
      return [term(field, "integer", direction), term("address", "text", "asc")];
    // Resigned delegates come first in both directions.
    case "resigned":
      return [term(field, "absence", "asc"), term("address", "text", "asc")];
    default:
      return [term(field, "absence", "asc"), term(field, "text", direction), term("address", "text", "asc")];
  }
}

export const balanceTerms = ({ direction }: BalanceOrder): NamedTerm<"height">[] => [
  term("height", "integer", direction),
];

/** Keys of properties can contain any characters. */
export const PROPERTY_TERMS = [term("key", "bytes", "asc")];

export const tokenTerms = ({ field, direction }: TokenOrder): NamedTerm<TokenTerm>[] => [
  ...(field === "ownerId" ? [term(field, "text", direction)] : []),
  term("id", "text", direction),
];

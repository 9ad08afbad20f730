/**
 * What answers show of a transaction and no column tells by itself: as JSON text, so that a page is put together from
 * texts instead of from the decoded bytes of every row.
 */
import type { Transaction } from "@uniknode/protocol";

export type ShownParts = {
  /** Members of an object, without its brackets; empty for an unsigned transaction. */
  readonly signatures: string;
  /** Null where the type has none. */
  readonly asset: string | null;
};

type Parts = Pick<Transaction, "signature" | "secondSignature" | "signatures"> & { readonly asset?: object };

/** From a decoded transaction or its JSON. */
export const shownParts = ({ signature, secondSignature, signatures, asset }: Parts): ShownParts => ({
  signatures: JSON.stringify({ signature, signSignature: secondSignature, signatures }).slice(1, -1),
  asset: asset ? JSON.stringify(asset, digitsOf) : null,
});

const digitsOf = (_name: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value;

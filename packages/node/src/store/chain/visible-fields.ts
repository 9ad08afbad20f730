/**
 * Fields of a transaction that responses contain but no column stores, as JSON text. A page is then concatenated from
 * texts, without decoding the bytes of each row.
 */
import type { Transaction } from "@uniknode/protocol";

export type VisibleFields = {
  /** Members of an object, without its brackets; empty for an unsigned transaction. */
  readonly signatures: string;
  /** Null if the type has none. */
  readonly asset: string | null;
};

type Parts = Pick<Transaction, "signature" | "secondSignature" | "signatures"> & { readonly asset?: object };

/** Extracts the fields from a decoded transaction or its JSON. */
export const toVisibleFields = ({ signature, secondSignature, signatures, asset }: Parts): VisibleFields => ({
  signatures: JSON.stringify({ signature, signSignature: secondSignature, signatures }).slice(1, -1),
  asset: asset ? JSON.stringify(asset, digitsOf) : null,
});

const digitsOf = (_name: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value;

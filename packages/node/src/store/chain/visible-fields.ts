/**
 * The fields of a transaction that responses show and no column holds, as JSON text: a page is joined from
 * texts instead of decoding the bytes of every row.
 */
import type { Transaction } from "@uniknode/protocol";

export type VisibleFields = {
  /** Members of an object, without its brackets; empty for an unsigned transaction. */
  readonly signatures: string;
  /** Null where the type has none. */
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

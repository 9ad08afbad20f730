/** Fields of a transaction as JSON text. A page is concatenated from texts. */
import type { Transaction } from "@uniknode/protocol";

type Signatures = Pick<Transaction, "signature" | "secondSignature" | "signatures">;

/** Returns the members of an object, without its brackets; empty for an unsigned transaction. */
export const toSignaturesText = ({ signature, secondSignature, signatures }: Signatures): string =>
  JSON.stringify({ signature, signSignature: secondSignature, signatures }).slice(1, -1);

/** Returns null if the type has none. */
export const toAssetText = (asset: object | undefined): string | null =>
  asset ? JSON.stringify(asset, digitsOf) : null;

const digitsOf = (_name: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value;

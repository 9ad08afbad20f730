/** Outcome of each block that was submitted to the chain. */
import type { Verdict } from "@uniknode/ledger";

export type Outcome =
  /** The block is on the chain, and on disk. */
  | { readonly kind: "Accepted" }
  | Exclude<Verdict, { kind: "Accepted" }>
  /** The bytes are not a block under the rules in force. */
  | { readonly kind: "Unreadable"; readonly cause: unknown }
  /** The block is the first of a batch, and does not continue the head (consensus.md 6.5). */
  | { readonly kind: "Unchained" }
  /** A block before it in the batch was not accepted. */
  | { readonly kind: "Skipped" };

/** Returns the reason why the chain refused a block; undefined if it accepted it. */
export function refusalOf(outcome: Outcome): string | undefined {
  if (outcome.kind === "Accepted") return undefined;
  const { kind, ...detail } = outcome;
  return `${kind} ${JSON.stringify(detail, (_, value) => (value instanceof Error ? value.message : value))}`;
}

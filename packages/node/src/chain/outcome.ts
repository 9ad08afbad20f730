/** Outcome of each block that was submitted to the chain. */
import type { Verdict } from "@uniknode/ledger";

export type Outcome =
  /** The block is on the chain, and on disk. */
  | { readonly answer: "Accepted" }
  | Exclude<Verdict, { answer: "Accepted" }>
  /** The bytes are not a block under the rules in force. */
  | { readonly answer: "Unreadable"; readonly cause: unknown }
  /** The block is the first of a batch, and does not continue the head (consensus.md 6.5). */
  | { readonly answer: "Unchained" }
  /** A block before it in the batch was not accepted. */
  | { readonly answer: "Skipped" };

/** Returns the reason why the chain refused a block; undefined if it accepted it. */
export function refusalOf(outcome: Outcome): string | undefined {
  if (outcome.answer === "Accepted") return undefined;
  const { answer, ...detail } = outcome;
  return `${answer} ${JSON.stringify(detail, (_, value) => (value instanceof Error ? value.message : value))}`;
}

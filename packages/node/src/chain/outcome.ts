/** What the chain answers to each block that was handed over. */
import type { Verdict } from "@uniknode/ledger";

export type Outcome =
  /** It is on the chain, and on disk. */
  | { readonly answer: "Accepted" }
  | Exclude<Verdict, { answer: "Accepted" }>
  /** Its bytes are no block under the rules in force. */
  | { readonly answer: "Unreadable"; readonly cause: unknown }
  /** First of a batch, and does not continue the head (consensus.md 6.5). */
  | { readonly answer: "Unchained" }
  /** A block before it in the batch was not accepted. */
  | { readonly answer: "Skipped" };

/** Why the chain did not take a block, if it did not. */
export function refusalOf(outcome: Outcome): string | undefined {
  if (outcome.answer === "Accepted") return undefined;
  const { answer, ...detail } = outcome;
  return `${answer} ${JSON.stringify(detail, (_, value) => (value instanceof Error ? value.message : value))}`;
}

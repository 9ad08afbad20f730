/** What becomes of a block that was handed to the chain (consensus.md 6.2 and 6.4). */
import type { BlockFault } from "@uniknode/protocol";
import type { AppliedBlock } from "./apply.ts";

export type Reason =
  /** Listed exception, stored before. */
  | "already-stored"
  /** The block is faulty by itself (consensus.md 6.1). */
  | "verification-failed"
  /** Transactions of different versions. */
  | "mixed-versions"
  /** The nonces of a sender do not continue its nonce. */
  | "nonce-out-of-order"
  /** Some parent is not here yet. */
  | "too-high"
  /** The same too high block came for the sixth time in a row. */
  | "too-high-again"
  | "below-head"
  | "is-head"
  | "older-than-head"
  /** The right delegate signed another block for this height. */
  | "double-forging"
  /** Not of the delegate of its slot. */
  | "wrong-generator"
  /** A transaction is stored already. */
  | "transaction-stored"
  /** A rule refused it while it was applied. */
  | "refused";

export type Verdict =
  | ({ readonly answer: "Accepted" } & AppliedBlock)
  | Rejection
  | { readonly answer: "Discarded"; readonly reason: Reason }
  /** `blocks` is the number to remove; without it, one is drawn (consensus.md 8). */
  | { readonly answer: "Rollback"; readonly reason: Reason; readonly blocks?: number };

export type Rejection = {
  readonly answer: "Rejected";
  readonly reason: Reason;
  /** Of a block that failed verification. */
  readonly faults?: readonly BlockFault[];
  /**
   * What was thrown while it was verified or applied: a `RuleError` where a rule refused it. Anything else is not
   * the block's fault, such as a state that cannot be read, or an active set that no delegates are left for.
   */
  readonly cause?: unknown;
};

/** Whether peers may still get the block: discarded ones go on travelling. */
export const mayBeBroadcast = ({ answer }: Verdict): boolean =>
  answer === "Accepted" || answer === "Discarded";

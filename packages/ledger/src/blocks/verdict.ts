/** Verdicts on blocks that are submitted to the chain (consensus.md 6.2 and 6.4). */
import type { BlockFault } from "@uniknode/protocol";
import type { AppliedBlock } from "./apply.ts";

export type Reason =
  /** Listed exception, stored before. */
  | "already-stored"
  /** The block is invalid regardless of the chain (consensus.md 6.1). */
  | "verification-failed"
  /** Transactions of different versions. */
  | "mixed-versions"
  /** The nonces of a sender do not continue its nonce. */
  | "nonce-out-of-order"
  /** A block below it is missing. */
  | "too-high"
  /** The same block, too high, was received for the sixth time in a row. */
  | "too-high-again"
  | "below-head"
  | "is-head"
  | "older-than-head"
  /** The delegate of the slot signed another block for this height. */
  | "double-forging"
  /** The generator is not the delegate of the slot. */
  | "wrong-generator"
  /** A transaction is stored already. */
  | "transaction-stored"
  /** A rule refused a transaction while the block was applied. */
  | "refused";

export type Verdict =
  | ({ readonly kind: "Accepted" } & AppliedBlock)
  | Rejection
  | { readonly kind: "Discarded"; readonly reason: Reason }
  /** `blocks` is the number to remove; without it, one is drawn (consensus.md 8). */
  | { readonly kind: "Rollback"; readonly reason: Reason; readonly blocks?: number };

export type Rejection = {
  readonly kind: "Rejected";
  readonly reason: Reason;
  /** Faults of a block that failed verification. */
  readonly faults?: readonly BlockFault[];
  /**
   * The error from its verification or application: a `RuleError` if a rule refused it. Other errors are not caused by
   * the block, such as a state that cannot be read, or too few delegates for a round.
   */
  readonly cause?: unknown;
};

/** Returns true if the block may be broadcast: discarded blocks are broadcast too. */
export const mayBeBroadcast = ({ kind }: Verdict): boolean => kind === "Accepted" || kind === "Discarded";

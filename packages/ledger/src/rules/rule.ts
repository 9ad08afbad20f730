/** What one transaction type contributes to the state machine (transactions-rules.md). */
import type { Milestone, Network, Transaction } from "@uniknode/protocol";
import type { Draft } from "../state/draft.ts";
import type { StateReader, Wallet } from "../state/tables.ts";

/** What a transaction is judged and applied against. */
export type RuleContext = {
  readonly network: Network;
  /** The milestone of the head, not of the block under way (trap A1). */
  readonly milestone: Milestone;
  /** The last accepted block: height, and its timestamp in seconds since the network epoch. */
  readonly head: { readonly height: number; readonly timestamp: number };
  /** Timestamp of the block under way; absent in the pool. */
  readonly blockTimestamp?: number;
  /** Chain state: tokens, indexes and the wallets of others. In a block it contains what came before. */
  readonly state: StateReader;
  /**
   * Where the sender's wallet is read and all effects are written. In a block this is the draft behind `state`;
   * in the pool it is the overlay of pending effects, while `state` stays the chain.
   */
  readonly draft: Draft;
  /** In the pool: whether a pending transaction of another sender mints this token. Absent in a block. */
  readonly isMintPending?: (tokenId: string) => boolean;
};

/** One file per transaction type exports one of these. */
export type Rule = {
  readonly typeGroup: number;
  readonly type: number;
  /** Credited to the sender before its checks, may be negative (certified types; transactions-rules.md 2.1). */
  advance?(transaction: Transaction, context: RuleContext): bigint;
  /**
   * The checks of the type in the order of its section, the generic checks at their place (transactions-rules.md
   * 2.2). Writes nothing.
   *
   * @throws {RuleError} on the first refusal
   */
  check(transaction: Transaction, context: RuleContext, sender: Wallet): void;
  /** Effects on the sender and the token store, after nonce and balance were written (transactions-rules.md 2.3). */
  applyToSender?(transaction: Transaction, context: RuleContext): void;
  /** Effects on everybody else; absent where there are none. The pool never calls it at admission. */
  applyToRecipient?(transaction: Transaction, context: RuleContext): void;
};

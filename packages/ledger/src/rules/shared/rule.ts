/** The rule of a transaction type in the state machine (transactions-rules.md). */
import type { Milestone, Network, Transaction } from "@uniknode/protocol";
import type { WalletSignatures } from "../../signatures.ts";
import type { Draft } from "../../state/draft.ts";
import type { StateReader, Wallet } from "../../state/tables.ts";

/** The context in which a transaction is checked and applied. */
export type RuleContext = {
  readonly network: Network;
  /** The milestone of the head, not of the block being applied (trap A1). */
  readonly milestone: Milestone;
  /** The last accepted block: height, and its timestamp in seconds since the network epoch. */
  readonly head: { readonly height: number; readonly timestamp: number };
  /** Timestamp of the block being applied; absent in the pool. */
  readonly blockTimestamp?: number;
  /**
   * Second signatures and multisignatures count as valid without being checked; whether a transaction must have them
   * is checked. Absent: they are checked.
   */
  readonly assumesSignatures?: boolean;
  /** Verdicts about second signatures, multisignatures, certifications and demands. Absent: they are computed. */
  readonly signatures?: WalletSignatures | undefined;
  /** Chain state: tokens, indexes and other wallets. In a block it includes the transactions before this one. */
  readonly state: StateReader;
  /**
   * The draft from which the sender's wallet is read and to which all effects are written. In a block it is the same
   * draft as `state`; in the pool it is the overlay of pending effects, while `state` is the chain.
   */
  readonly draft: Draft;
  /** Only in the pool: returns true if a pending transaction of another sender mints this token. */
  readonly isMintPending?: (tokenId: string) => boolean;
};

/** Rule of a transaction type; each is exported by a file of its own. */
export type Rule = {
  readonly typeGroup: number;
  readonly type: number;
  /** Amount credited to the sender before its checks, may be negative (certified types; transactions-rules.md 2.1). */
  advance?(transaction: Transaction, context: RuleContext): bigint;
  /**
   * The checks of the type in the order of its section, with the generic checks at their step (transactions-rules.md
   * 2.2). Writes nothing.
   *
   * @throws {RuleError} the first refusal
   */
  check(transaction: Transaction, context: RuleContext, sender: Wallet): void;
  /** Effects on the sender and the token store, after nonce and balance were written (transactions-rules.md 2.3). */
  applyToSender?(transaction: Transaction, context: RuleContext): void;
  /** Effects on other wallets; absent if there are none. Not called by the pool at admission. */
  applyToRecipient?(transaction: Transaction, context: RuleContext): void;
};

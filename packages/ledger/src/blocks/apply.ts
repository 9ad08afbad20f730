/** Applies a transaction (transactions-rules.md 2.1), and a complete block (consensus.md 6.3). The changes that the draft recorded are the undo of the block. */
import type {
  Block,
  BlockHeader,
  Milestone,
  Network,
  RoundInfo,
  Rounds,
  SealedTransaction,
  Slots,
  Transaction,
} from "@uniknode/protocol";
import type { Fact } from "../facts.ts";
import { idleDelegates, missedSlots, openRound } from "../rounds/round.ts";
import { requireRule } from "../rules/registry.ts";
import { spend } from "../rules/shared/common.ts";
import { nftOf, voucherOf } from "../rules/shared/economy.ts";
import type { Rule, RuleContext } from "../rules/shared/rule.ts";
import type { WalletSignatures } from "../signatures.ts";
import type { Draft } from "../state/draft.ts";
import { type Change, type Delegate, voucherKey } from "../state/tables.ts";
import { lockToClaim, moveVotes } from "../votes.ts";
import { saveDelegate, saveWallet, walletOf } from "../wallets.ts";
import { transactionFacts, walletFacts } from "./block-facts.ts";

/**
 * Applies a transaction as the next one of a block: checks, effects, vote balances. A refused transaction
 * changes nothing (trap B1).
 *
 * @throws {RuleError} the first refusal
 */
export function applyTransaction(transaction: Transaction, context: RuleContext): void {
  const { draft } = context;
  const mark = draft.mark();
  try {
    const rule = requireRule(transaction, context); // step 1
    const claimed = lockToClaim(transaction, context); // step 2
    payAndApply(rule, transaction, context); // step 3
    rule.applyToRecipient?.(transaction, context); // step 4
    moveVotes(transaction, context, claimed); // step 5
  } catch (error) {
    draft.rollback(mark);
    throw error;
  }
}

/**
 * Applies only the sender's part, as the pool does at admission: against the pool's wallet of the sender in
 * `context.draft`, and the chain in `context.state`. The token store written there is part of the overlay.
 *
 * @throws {RuleError} the first refusal; the draft is then as before
 */
export function applyToSender(transaction: Transaction, context: RuleContext): void {
  const { draft } = context;
  const mark = draft.mark();
  try {
    payAndApply(requireRule(transaction, context), transaction, context);
  } catch (error) {
    draft.rollback(mark);
    throw error;
  }
}

/** Step 3: advance, checks of the type, nonce and balance, effects on the sender and the token store. */
function payAndApply(rule: Rule, transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  const known = walletOf(draft, transaction.senderPublicKey, network);
  const advance = rule.advance?.(transaction, context) ?? 0n;
  const sender = advance === 0n ? known : { ...known, balance: known.balance + advance };
  // The checks read the sender from the state, with its key and its credit.
  if (sender !== draft.get("wallets", sender.address)) saveWallet(draft, sender);
  rule.check(transaction, context, sender);
  spend(transaction, context, sender);
  rule.applyToSender?.(transaction, context);
}

/** The context in which a block is applied. */
export type BlockContext = {
  readonly network: Network;
  readonly rounds: Rounds;
  readonly slots: Slots;
  /** The last accepted block. */
  readonly head: { readonly height: number; readonly timestamp: number };
  /** The signatures of the block count as valid: see `RuleContext`. */
  readonly assumesSignatures?: boolean;
  /** Verdicts about second signatures and multisignatures: see `RuleContext`. */
  readonly signatures?: WalletSignatures | undefined;
};

export type AppliedBlock = {
  /** Facts in the order of events.md 3.1. */
  readonly facts: readonly Fact[];
  /** Changes of the block in the draft: values after it to store, values before it to undo it. */
  readonly changes: readonly Change[];
};

/**
 * Applies a verified block that continues the head. On failure the draft is as before (traps B1 and B12).
 *
 * @throws {RuleError} if a transaction is refused
 * @throws {Error} if there are too few delegates for the next round
 */
export function applyBlock(context: BlockContext, draft: Draft, block: Block): AppliedBlock {
  const mark = draft.mark();
  try {
    return applyParts(context, draft, block);
  } catch (error) {
    draft.rollback(mark);
    throw error;
  }
}

function applyParts(context: BlockContext, draft: Draft, { header, transactions }: Block): AppliedBlock {
  const { network, rounds, head, assumesSignatures = false, signatures } = context;
  const mark = draft.mark();
  // All rules come from the milestone of the head, not of the block (trap A1).
  const milestone = network.milestoneAt(head.height);
  const blockTimestamp = header.timestamp;
  const rules: RuleContext = {
    network,
    milestone,
    head,
    blockTimestamp,
    assumesSignatures,
    signatures,
    state: draft,
    draft,
  };
  const applied = transactions.flatMap(({ data }, sequence) => {
    applyTransaction(data, rules);
    return transactionFacts(data, sequence, (tokenId) => draft.get("tokens", tokenId)?.ownerId);
  });
  rewardGenerator(draft, network, header);
  recordUses(draft, transactions);
  const missed = missedFacts(context, draft, header);
  const next = rounds.roundAt(header.height + 1);
  const round = next.isNewRound ? changeRound(draft, network, next, milestone) : [];
  const changes = draft.changes(mark);
  const facts = missed.concat(round, applied, walletFacts(changes), { name: "block.applied", header });
  return { facts, changes };
}

function missedFacts(
  { network, rounds, slots, head }: BlockContext,
  draft: Draft,
  { height, timestamp }: Block["header"],
): Fact[] {
  const round = draft.get("rounds", String(rounds.roundAt(height).round));
  if (!round) return [];
  return missedSlots(slots, round, head, timestamp).map(({ slot, delegate }) => ({
    name: "forger.missing",
    delegate: walletOf(draft, delegate, network),
    slot,
  }));
}

/** Ends one round and opens the next. */
function changeRound(draft: Draft, network: Network, next: RoundInfo, milestone: Milestone): Fact[] {
  const ended = draft.get("rounds", String(next.round - 1));
  const idle = ended ? idleDelegates(ended, (publicKey) => walletOf(draft, publicKey, network)) : [];
  const missed = idle.map((delegate): Fact => ({ name: "round.missed", delegate, round: next.round - 1 }));
  const delegates = openRound(draft, next, milestone);
  return [
    ...missed,
    { name: "round.created", delegates, round: next.round },
    { name: "round.applied", round: next.round },
  ];
}

/**
 * Credits the generator with reward and fees, counts the block for it, and updates the vote balance of its delegate.
 * The weighted vote balance is updated by the next transaction or ranking (state.md 5.2).
 */
function rewardGenerator(draft: Draft, network: Network, header: BlockHeader): void {
  const earned = header.reward + header.totalFee;
  const wallet = walletOf(draft, header.generatorPublicKey, network);
  const credited = { ...wallet, balance: wallet.balance + earned };
  const { delegate, vote } = wallet.attributes;
  if (delegate) saveDelegate(draft, credited, withBlock(delegate, header));
  else saveWallet(draft, credited);
  if (vote === undefined || earned === 0n) return;
  const target = walletOf(draft, vote, network);
  const voted = target.attributes.delegate;
  if (voted) saveDelegate(draft, target, { ...voted, voteBalance: voted.voteBalance + earned });
}

/** The statistics of state.md 2.1. */
const withBlock = (
  delegate: Delegate,
  { id, height, timestamp, totalFee, reward }: BlockHeader,
): Delegate => ({
  ...delegate,
  forgedFees: delegate.forgedFees + totalFee,
  forgedRewards: delegate.forgedRewards + reward,
  producedBlocks: delegate.producedBlocks + 1,
  lastBlock: { id, height, timestamp },
});

/**
 * Records used vouchers and disclose demands when the block is complete: the checks see stored blocks only, so that one
 * block may use the same voucher several times (trap A3).
 */
export function recordUses(draft: Draft, transactions: readonly SealedTransaction[]): void {
  for (const { data } of transactions) {
    const voucher = voucherOf(data);
    if (voucher !== undefined) record(draft, "vouchers", voucherKey(nftOf(data).name, voucher), data);
    const certification = data.asset?.["disclose-demand-certification"];
    if (certification) record(draft, "disclosures", certification.payload.sub, data);
  }
}

/** Keeps the first use. */
function record(draft: Draft, table: "vouchers" | "disclosures", key: string, { id }: Transaction): void {
  if (draft.get(table, key) === undefined) draft.set(table, key, id);
}

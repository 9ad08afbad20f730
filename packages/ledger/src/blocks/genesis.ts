/** The state after the genesis block (consensus.md 10). */
import { type Block, createRounds, type Network, present, type Transaction } from "@uniknode/protocol";
import { openRound } from "../rounds/round.ts";
import { findRule } from "../rules/registry.ts";
import type { RuleContext } from "../rules/shared/rule.ts";
import type { Draft } from "../state/draft.ts";
import { addressOf, credit, delegateOf, saveDelegate, saveWallet, walletAt, walletOf } from "../wallets.ts";
import { recordUses } from "./apply.ts";

const GENESIS_HEIGHT = 1;

/**
 * Applies the genesis block to an empty state and opens round 1. The block is trusted as configuration: its
 * transactions are applied without any check, so that the sender of the premine ends below zero.
 *
 * @throws {Error} if a transaction type is unknown, or there are fewer delegates than a round needs
 */
export function applyGenesis(draft: Draft, network: Network, { header, transactions }: Block): void {
  const milestone = network.milestoneAt(GENESIS_HEIGHT);
  const head = { height: GENESIS_HEIGHT, timestamp: header.timestamp };
  const context: RuleContext = {
    network,
    milestone,
    head,
    blockTimestamp: header.timestamp,
    state: draft,
    draft,
  };
  for (const { data } of transactions) applyUnchecked(data, context);
  const earned = header.reward + header.totalFee;
  if (earned > 0n) credit(draft, addressOf(header.generatorPublicKey, network), earned);
  recordUses(draft, transactions);
  countVotes(draft);
  const rounds = createRounds(network);
  openRound(draft, rounds.roundAt(GENESIS_HEIGHT), milestone);
  // With a single delegate the genesis block is a round of its own.
  const next = rounds.roundAt(GENESIS_HEIGHT + 1);
  if (next.isNewRound) openRound(draft, next, milestone);
}

function applyUnchecked(transaction: Transaction, context: RuleContext): void {
  const { draft, network } = context;
  const rule = findRule(transaction.typeGroup, transaction.type);
  if (!rule) throw new Error(`the genesis block has a transaction of an unknown type: ${transaction.id}`);
  const sender = walletOf(draft, transaction.senderPublicKey, network);
  saveWallet(draft, {
    ...sender,
    nonce: sender.nonce + 1n,
    balance: sender.balance - transaction.amount - transaction.fee,
  });
  rule.applyToSender?.(transaction, context);
  rule.applyToRecipient?.(transaction, context);
}

/** Computes the vote balances by their definition (state.md 5.1): the transactions above did not update them. */
function countVotes(draft: Draft): void {
  for (const address of [...draft.delegates()]) {
    const wallet = walletAt(draft, address);
    let voteBalance = 0n;
    for (const voter of draft.voters(present(wallet.publicKey, "the public key of a delegate"))) {
      const { balance, attributes } = walletAt(draft, voter);
      voteBalance += balance + (attributes.htlc?.lockedBalance ?? 0n);
    }
    if (voteBalance !== 0n) saveDelegate(draft, wallet, { ...delegateOf(wallet), voteBalance });
  }
}

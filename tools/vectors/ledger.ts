/** Runners of the state machine: rounds, ranking, transactions, chains (state.md, consensus.md). */
import assert from "node:assert/strict";
import {
  approval,
  createDraft,
  createMemoryState,
  openRound,
  rankDelegates,
  walletOf,
} from "@uniknode/ledger";
import {
  createRounds,
  createSlots,
  delegateOfSlot,
  forgingOrder,
  type Milestone,
  type Network,
} from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { blockProcessing, chainReplay } from "./ledger-chain.ts";
import { transactionApply } from "./ledger-transactions.ts";
import { networkNamed } from "./networks.ts";
import { eachCase, type Runners } from "./vector.ts";

/** Sum of the milestone rewards of the heights 1 to `height`. */
function rewardsUpTo({ milestones }: Network, height: number): bigint {
  let sum = 0n;
  for (const [index, { height: start, reward }] of milestones.entries()) {
    const end = Math.min(height, (milestones[index + 1]?.height ?? height + 1) - 1);
    if (start <= height) sum += BigInt(end - start + 1) * BigInt(reward);
  }
  return sum;
}

/** Any network will do where only keys are turned into addresses. */
const someNetwork = () => networkNamed("dalinet");

/** A state with delegates and voters of a `ranking` case. */
// biome-ignore lint/suspicious/noExplicitAny: see Runner
function electorate({ delegates, voters = [] }: any) {
  const draft = createDraft(createMemoryState());
  for (const { publicKey, username, voteBalance, type, resigned, weightedVoteBalance } of delegates) {
    const delegate = {
      username,
      voteBalance: BigInt(voteBalance),
      forgedFees: 0n,
      forgedRewards: 0n,
      producedBlocks: 0,
      round: 0,
      ...(type !== undefined && { type }),
      ...(resigned && { resigned }),
      ...(weightedVoteBalance !== undefined && { weightedVoteBalance: BigInt(weightedVoteBalance) }),
    };
    const wallet = walletOf(draft, publicKey, someNetwork());
    draft.set("wallets", wallet.address, { ...wallet, attributes: { delegate } });
  }
  for (const { publicKey, balance, vote, lockedBalance } of voters) {
    const wallet = walletOf(draft, publicKey, someNetwork());
    const htlc = lockedBalance && { locks: {}, lockedBalance: BigInt(lockedBalance) };
    const attributes = { ...wallet.attributes, vote, ...(htlc && { htlc }) };
    draft.set("wallets", wallet.address, { ...wallet, balance: BigInt(balance), attributes });
  }
  return draft;
}

export const ledgerRunners: Runners = {
  "round-calculation": eachCase(({ input, expected }, { milestoneSets }) => {
    let merged = {};
    const milestones = milestoneSets[input.milestones].map((change: object) => {
      merged = { ...merged, ...change };
      return merged;
    });
    assert.deepEqual(createRounds({ milestones }).roundAt(input.height), expected);
  }),

  "delegate-shuffle": eachCase(({ input, expected }) => {
    const order = forgingOrder(input.round, input.rankedDelegates);
    assert.deepEqual(order, expected.order);
    const places = order.map((publicKey) => input.rankedDelegates.indexOf(publicKey));
    assert.deepEqual(places, expected.permutation);
  }),

  "slot-to-forger": eachCase(({ input, expected }) => {
    const { network, round, rankedDelegates, timestamp, generatorPublicKey } = input;
    const slot = createSlots(networkNamed(network)).slotAt(timestamp);
    const forger = delegateOfSlot(forgingOrder(round, rankedDelegates), slot);
    assert.deepEqual({ slot, forger, valid: forger === generatorPublicKey }, expected);
  }),

  "delegate-ranking": eachCase(({ input, expected }) => {
    const draft = electorate(input);
    const milestone = input.milestone as Milestone;
    const { activeDelegates } = milestone;
    const info = { ...createRounds({ milestones: [{ ...milestone, height: 1 }] }).roundAt(1), round: 2 };
    if (expected.error) {
      assert.throws(() => openRound(draft, info, milestone), { message: expected.error.message });
      return;
    }
    const ranked = rankDelegates(draft, milestone).map(({ publicKey }) => publicKey);
    assert.deepEqual(input.slice ? ranked.slice(0, activeDelegates) : ranked, expected.active);
    for (const { publicKey } of input.delegates) {
      const { rank, weightedVoteBalance } = present(
        walletOf(draft, publicKey, someNetwork()).attributes.delegate,
      );
      assert.equal(rank ?? null, expected.ranks[publicKey], publicKey);
      if (expected.weighted) assert.equal(`${weightedVoteBalance}`, expected.weighted[publicKey], publicKey);
    }
    if (input.slice) {
      openRound(draft, info, milestone);
      const active = present(draft.get("rounds", "2")).delegates.map(({ publicKey }) => publicKey);
      assert.deepEqual(active, expected.active);
    }
  }),

  "supply-calculator": eachCase(({ input: { network, height, premine }, expected }) => {
    assert.equal(`${BigInt(premine) + rewardsUpTo(networkNamed(network), height)}`, expected.supply);
  }),

  "approval-percent": eachCase(({ input: { voteBalance, total }, expected }) => {
    assert.equal(approval(BigInt(voteBalance), BigInt(total)), expected.percent);
  }),

  "transaction-apply": transactionApply,
  "chain-replay": chainReplay,
  "block-processing": blockProcessing,
};

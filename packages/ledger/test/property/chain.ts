/** Random chain: forged, reverted and applied again; all invariants are checked after each step. */
import assert from "node:assert/strict";
import {
  type AppliedBlock,
  applyBlock,
  applyGenesis,
  applyToSender,
  applyTransaction,
  type BlockContext,
  createDraft,
  createMemoryState,
  type Draft,
  type RuleContext,
  RuleError,
} from "@uniknode/ledger";
import {
  type Block,
  createRounds,
  createSlots,
  delegateOfSlot,
  isTypeActive,
  present,
  type SealedTransaction,
} from "@uniknode/protocol";
import { genesisBlock } from "./genesis.ts";
import { checkIndexes, checkSupply, createdBy, imageOf, textOf } from "./invariants.ts";
import type { Random } from "./random.ts";
import { randomTransaction, TYPES } from "./transactions.ts";
import { digest, network } from "./world.ts";

/** One block with the data to apply and revert it. */
type Link = {
  readonly block: Block;
  readonly applied: AppliedBlock;
  /** Tokens created by the block's reward and its rewarded transactions. */
  readonly created: bigint;
  readonly imageBefore: string;
};

/** Coverage of the chains. */
export type Coverage = {
  /** Applied types, and types that created tokens. */
  readonly applied: Set<string>;
  readonly rewarded: Set<string>;
  /** Codes of refusals. */
  readonly refused: Set<string>;
};

export type RandomChain = {
  height(): number;
  /** Forges a block of random transactions on the head. */
  grow(): void;
  /** Reverts blocks; the state must be equal to that before each of them. */
  shrink(depth: number): readonly Link[];
  /** Applies reverted blocks again; facts and changes must be the same. */
  regrow(links: readonly Link[]): void;
  image(): string;
};

export function createRandomChain(random: Random, coverage: Coverage): RandomChain {
  const state = createMemoryState();
  const links: Link[] = [];
  const genesis = genesisBlock();
  const rounds = createRounds(network);
  const slots = createSlots(network);
  const premine = genesis.header.totalAmount;

  const firstDraft = createDraft(state);
  applyGenesis(firstDraft, network, genesis);
  state.commit(firstDraft.changes());

  const head = () => (links.at(-1)?.block ?? genesis).header;

  /** Block of the delegate of the slot. */
  function blockOf(transactions: readonly SealedTransaction[], timestamp: number): Block {
    const height = head().height + 1;
    const { order } = present(state.get("rounds", String(rounds.roundAt(height).round)), "an entry of state");
    const ids = transactions.map(({ data }) => data.id).join();
    const header = {
      ...genesis.header,
      id: digest(`${height} ${timestamp} ${ids}`),
      height,
      timestamp,
      reward: BigInt(network.milestoneAt(height).reward),
      totalFee: transactions.reduce((sum, { data }) => sum + data.fee, 0n),
      numberOfTransactions: transactions.length,
      generatorPublicKey: present(
        delegateOfSlot(order, slots.slotAt(timestamp)),
        "the result of delegateOfSlot",
      ),
    };
    return { header, transactions };
  }

  function append(block: Block, created: bigint): Link {
    const imageBefore = imageOf(state);
    const context: BlockContext = { network, rounds, slots, head: head() };
    const applied = applyBlock(context, createDraft(state), block);
    state.commit(applied.changes);
    const link = { block, applied, created, imageBefore };
    links.push(link);
    const allCreated = links.reduce((sum, one) => sum + one.created, 0n);
    checkSupply(state, premine, allCreated);
    checkIndexes(state);
    return link;
  }

  return {
    height: () => head().height,
    image: () => imageOf(state),

    grow() {
      const { height, timestamp } = head();
      const blockTimestamp = timestamp + 8 * (random.oneIn(5) ? 1 + random.below(4) : 1);
      const draft = createDraft(state);
      const milestone = network.milestoneAt(height);
      const context = {
        network,
        milestone,
        head: { height, timestamp },
        blockTimestamp,
        state: draft,
        draft,
      };
      const pool = { network, milestone, head: context.head, state, draft: createDraft(state) };
      const { transactions, created } = fill(context, pool, random, coverage);
      const block = blockOf(transactions, blockTimestamp);
      append(block, created + block.header.reward);
    },

    shrink(depth) {
      const removed = links.slice(-depth);
      for (const { applied, imageBefore, block } of removed.toReversed()) {
        links.pop();
        state.revert(applied.changes);
        assert.equal(imageOf(state), imageBefore, `the undo of height ${block.header.height}`);
      }
      return removed;
    },

    regrow(removed) {
      for (const { block, created, applied } of removed) {
        const again = append(block, created);
        assert.equal(textOf(again.applied), textOf(applied), `height ${block.header.height}, applied again`);
      }
    },
  };
}

/** Tries random transactions on a draft and as a pool does; the valid ones become a block. */
function fill(context: RuleContext, pool: RuleContext, random: Random, coverage: Coverage) {
  const { draft, milestone, head } = context;
  const transactions: SealedTransaction[] = [];
  const active = TYPES.filter((type) => isActive(type, head.height));
  let created = 0n;
  for (let attempts = 4 + random.below(16); attempts > 0; attempts--) {
    const type = random.pick(random.oneIn(12) ? TYPES : active);
    const sealed = randomTransaction({ random, draft, height: head.height }, type);
    const creates = createdBy(sealed.data, draft, milestone);
    // A pool may return another refusal than the chain, but it must refuse.
    refusalOf(() => applyToSender(sealed.data, pool), pool.draft);
    const refusal = refusalOf(() => applyTransaction(sealed.data, context), draft);
    if (refusal === undefined) {
      transactions.push(sealed);
      created += creates;
      coverage.applied.add(type);
      if (creates > 0n) coverage.rewarded.add(type);
    } else coverage.refused.add(refusal);
  }
  return { transactions, created };
}

function isActive(type: string, height: number): boolean {
  const [typeGroup, number] = type.split("/").map(Number);
  return isTypeActive(present(typeGroup, "typeGroup"), present(number, "number"), {
    network,
    height,
  });
}

/** The changes of drafts as text, after the last transaction. */
const texts = new WeakMap<Draft, string>();

/** Code of the refusal, which must have left no trace. */
function refusalOf(apply: () => void, draft: Draft): string | undefined {
  const before = texts.get(draft) ?? textOf(draft.changes());
  let code: string | undefined;
  try {
    apply();
  } catch (error) {
    if (!(error instanceof RuleError)) throw error;
    code = error.code;
  }
  const after = textOf(draft.changes());
  if (code !== undefined) assert.equal(after, before, `${code} left a trace`);
  texts.set(draft, after);
  return code;
}

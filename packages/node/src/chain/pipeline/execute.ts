/** Third step of the pipeline: judges a verified block and applies it to the state in memory; nothing is durable yet. */
import {
  createDraft,
  createRepetitions,
  isChained,
  judgeBlock,
  RuleError,
  type Verdict,
  type Wallet,
  type WalletSignatures,
} from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  createRounds,
  createSlots,
  isBlockException,
  type Network,
} from "@uniknode/protocol";
import { createFinality } from "../../event-log/finality.ts";
import type { BlockFact } from "../../events/block-events.ts";
import type { Event } from "../../events/event.ts";
import { withHoldings } from "../../store/state/holdings.ts";
import type { Outcome } from "../outcome.ts";
import type { ChainStores } from "../stores.ts";
import type { ExecutedBlock } from "./commit.ts";
import { createRoundStart } from "./round-start.ts";
import type { VerifiedBlock } from "./verify.ts";

export type ExecutorDeps = {
  readonly network: Network;
  readonly stores: Pick<ChainStores, "blocks" | "transactions" | "state" | "undo" | "events">;
  /** Verdicts about signatures that depend on wallets. If absent, they are computed. */
  readonly signatures?: WalletSignatures | undefined;
  /** Called only with facts that have subscribers. */
  readonly eventsOfFacts: (facts: readonly BlockFact[], header: BlockHeader) => Event[];
  readonly onUnexpectedError: (error: unknown, header: BlockHeader) => void;
};

export type Executor = {
  /** The last executed block. It is the head, except within the tick that executes and commits. */
  tip(): BlockHeader;
  /**
   * Returns true if a block may begin a batch: it continues the tip, or is a listed exception (consensus.md
   * 6.5).
   */
  isContinuedBy(block: Block): boolean;
  /** Executes a block on the tip. If it is accepted it becomes the tip, and `executed` gets its traces. */
  execute(verified: VerifiedBlock, executed: ExecutedBlock[]): Outcome;
  /** Moves the tip to a block whose state is in memory. */
  moveTo(header: BlockHeader): void;
  /** Returns to the last committed block, and discards what was executed since. */
  forget(head: BlockHeader): void;
};

export function createExecutor(head: BlockHeader, deps: ExecutorDeps): Executor {
  const { network } = deps;
  const { state } = deps.stores;
  const context = {
    rounds: createRounds(network),
    slots: createSlots(network),
    repetitions: createRepetitions(),
  };
  const roundStart = createRoundStart({ network, rounds: context.rounds, stores: deps.stores });
  const finality = createFinality(network, deps.stores.blocks.header);
  let tip = head;
  return {
    tip: () => tip,
    isContinuedBy: ({ header, transactions }) =>
      isChained(header, { head: tip, slots: context.slots }) ||
      isBlockException(
        header.id,
        transactions.map(({ data }) => data.id),
        network,
      ),
    execute(verified, executed) {
      const verdict = judge(verified, tip, context, deps);
      if (verdict.kind !== "Accepted") return verdict;
      const { changes } = verdict;
      const { block, isAssumed } = verified;
      state.write(changes);
      const facts = deps.stores.events.isRecorded("block.finalized")
        ? [...verdict.facts, ...finality.follow(block.header)]
        : verdict.facts;
      const applied = { block, isAssumed, changes };
      const startOf = (delegate: Wallet) => roundStart(delegate, [...executed, applied]);
      executed.push({ ...applied, events: recordedEvents(facts, block.header, startOf, deps) });
      tip = block.header;
      return { kind: "Accepted" };
    },
    moveTo(header) {
      tip = header;
    },
    forget(committed) {
      tip = committed;
      state.reset();
    },
  };
}

type JudgeContext = Parameters<typeof judgeBlock>[0];

/** Judges a block on the head. The changes of an accepted block are in its verdict, not in the state. */
function judge(
  { block, faults, isAssumed }: VerifiedBlock,
  head: BlockHeader,
  { rounds, slots, repetitions }: Pick<JudgeContext, "rounds" | "slots" | "repetitions">,
  deps: ExecutorDeps,
): Verdict {
  const { network, stores, signatures } = deps;
  const { version = 1 } = block.transactions[0]?.data ?? {};
  const isStored = (id: string) => stores.transactions.storedIds([id]).length > 0;
  const verdict = judgeBlock(
    {
      network,
      rounds,
      slots,
      repetitions,
      head,
      draft: createDraft(stores.state),
      isBlockStored: (id) => stores.blocks.headerById(id) !== undefined,
      // The nonces of version 2 continue the nonces of the wallets: a stored transaction would have been refused.
      isTransactionStored: version >= 2 ? () => false : isStored,
      assumesSignatures: isAssumed,
      signatures,
    },
    block,
    faults,
  );
  if (verdict.kind === "Rejected" && verdict.cause && !(verdict.cause instanceof RuleError)) {
    deps.onUnexpectedError(verdict.cause, block.header);
  }
  return verdict;
}

function recordedEvents(
  facts: readonly BlockFact[],
  header: BlockHeader,
  startOf: (delegate: Wallet) => Wallet,
  deps: ExecutorDeps,
): Event[] {
  const { events } = deps.stores;
  const recorded = facts.filter(({ name }) => events.isRecorded(name));
  return recorded.length > 0
    ? deps.eventsOfFacts(
        recorded.map((fact) => shown(fact, startOf, deps)),
        header,
      )
    : [];
}

/** The state is that after the block; `startOf` returns a delegate as it was when the round began. */
function shown(
  fact: BlockFact,
  startOf: (delegate: Wallet) => Wallet,
  { stores: { state } }: ExecutorDeps,
): BlockFact {
  switch (fact.name) {
    case "wallet.saved":
    case "wallet.created.cold":
      return { ...fact, wallet: withHoldings(state, fact.wallet) };
    case "forger.missing":
      return { ...fact, delegate: startOf(fact.delegate) };
    case "round.missed":
      return { ...fact, delegate: withHoldings(state, fact.delegate) };
    case "round.created":
      return { ...fact, delegates: fact.delegates.map((delegate) => withHoldings(state, delegate)) };
    default:
      return fact;
  }
}

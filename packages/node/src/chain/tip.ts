/**
 * The last executed block, with its state in memory. It is the head, except within the tick that executes and commits.
 */
import type { Fact } from "@uniknode/ledger";
import type { BlockHeader } from "@uniknode/protocol";
import type { Event } from "../events/event.ts";
import type { Outcome } from "./outcome.ts";
import type { ExecutedBlock } from "./pipeline/commit.ts";
import type { Executor } from "./pipeline/execute.ts";
import type { VerifiedBlock } from "./pipeline/verify.ts";
import type { ChainStores } from "./stores.ts";

export type Tip = {
  header(): BlockHeader;
  /** Returns true if a block may begin a batch (consensus.md 6.5). */
  isContinuedBy(block: VerifiedBlock["block"]): boolean;
  /** Executes a block on the tip. If it is accepted it becomes the tip, and `executed` gets its traces. */
  append(verified: VerifiedBlock, executed: ExecutedBlock[]): Outcome;
  /** Moves the tip to a block whose state is in memory. */
  moveTo(header: BlockHeader): void;
  /** Returns to the last committed block, and discards what was executed since. */
  forget(head: BlockHeader): void;
};

export type TipDeps = {
  readonly executor: Executor;
  readonly stores: Pick<ChainStores, "state" | "events">;
  readonly eventsOfFacts: (facts: readonly Fact[], header: BlockHeader) => Event[];
};

export function createTip(head: BlockHeader, { executor, stores, eventsOfFacts }: TipDeps): Tip {
  const { state, events } = stores;
  let tip = head;

  function eventsOf(facts: readonly Fact[], header: BlockHeader): Event[] {
    const recorded = facts.filter(({ name }) => events.isRecorded(name));
    return recorded.length > 0 ? eventsOfFacts(recorded, header) : [];
  }

  return {
    header: () => tip,
    isContinuedBy: (block) => executor.isNext(block, tip),
    append(verified, executed) {
      const verdict = executor.execute(verified, tip);
      if (verdict.answer !== "Accepted") return verdict;
      const { changes, facts } = verdict;
      const { block, isAssumed } = verified;
      state.write(changes);
      executed.push({ block, isAssumed, changes, events: eventsOf(facts, block.header) });
      tip = block.header;
      return { answer: "Accepted" };
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

/** Judges a verified block and applies it to the state: pure and synchronous, nothing is durable yet. */
import {
  createDraft,
  createRepetitions,
  createRounds,
  isChained,
  judgeBlock,
  RuleError,
  type StateReader,
  type Verdict,
  type WalletSignatures,
} from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  createSlots,
  isBlockException,
  type Network,
} from "@uniknode/protocol";
import type { VerifiedBlock } from "./verify.ts";

export type ExecutorDeps = {
  readonly network: Network;
  readonly state: StateReader;
  /** Verdicts about signatures that depend on wallets. If absent, they are computed. */
  readonly signatures?: WalletSignatures | undefined;
  readonly isBlockStored: (id: string) => boolean;
  readonly isTransactionStored: (id: string) => boolean;
  readonly onUnexpectedError: (error: unknown, header: BlockHeader) => void;
};

export type Executor = {
  /**
   * Returns true if a block may begin a batch: it continues the head, or is a listed exception (consensus.md
   * 6.5).
   */
  isNext(block: Block, head: BlockHeader): boolean;
  /** Judges a block on the head. The changes of an accepted block are in its verdict, not in the state. */
  execute(verified: VerifiedBlock, head: BlockHeader): Verdict;
};

export function createExecutor(deps: ExecutorDeps): Executor {
  const { network, state, signatures, isBlockStored, isTransactionStored, onUnexpectedError } = deps;
  const rounds = createRounds(network);
  const slots = createSlots(network);
  const repetitions = createRepetitions();
  return {
    isNext: ({ header, transactions }, head) =>
      isChained(header, { head, slots }) ||
      isBlockException(
        header.id,
        transactions.map(({ data }) => data.id),
        network,
      ),
    execute({ block, faults, isAssumed }, head) {
      const { version = 1 } = block.transactions[0]?.data ?? {};
      const verdict = judgeBlock(
        {
          network,
          rounds,
          slots,
          head,
          draft: createDraft(state),
          isBlockStored,
          // The nonces of version 2 continue those of the wallets: a stored transaction would have been refused.
          isTransactionStored: version >= 2 ? () => false : isTransactionStored,
          repetitions,
          assumesSignatures: isAssumed,
          ...(signatures && { signatures }),
        },
        block,
        faults,
      );
      if (verdict.answer === "Rejected" && verdict.cause && !(verdict.cause instanceof RuleError)) {
        onUnexpectedError(verdict.cause, block.header);
      }
      return verdict;
    },
  };
}

/**
 * Effects of submissions on the chain: the outcome of each block, and the change by each commit; and errors of the chain as a whole.
 * Refusals of blocks are verdicts, not errors.
 */
import type { Change, Verdict } from "@uniknode/ledger";
import type { Block, BlockHeader, SealedTransaction } from "@uniknode/protocol";
import { CodedError } from "../platform/coded-error.ts";

export type Outcome =
  /** The block is on the chain, and on disk. */
  | { readonly kind: "Accepted" }
  | Exclude<Verdict, { kind: "Accepted" }>
  /** The bytes are not a block under the rules in force. */
  | { readonly kind: "Unreadable"; readonly cause: unknown }
  /** The block is the first of a batch, and does not continue the head (consensus.md 6.5); or one of a branch, and does not continue the block below. */
  | { readonly kind: "Unchained" }
  /** The block was not executed: a block before it in the batch, or another one of the branch, was not accepted. */
  | { readonly kind: "Skipped" };

/** Returns the reason why the chain refused a block; undefined if it accepted it. */
export function refusalOf(outcome: Outcome): string | undefined {
  if (outcome.kind === "Accepted") return undefined;
  const { kind, ...detail } = outcome;
  return `${kind} ${JSON.stringify(detail, (_, value) => (value instanceof Error ? value.message : value))}`;
}

/** Effect of one commit on the chain: blocks that were reverted, or blocks that were applied. */
export type ChainChange = {
  /** The head after the change. */
  readonly head: BlockHeader;
  /** Applied blocks by ascending height, with the records that each of them changed. */
  readonly applied: readonly { readonly block: Block; readonly changes: readonly Change[] }[];
  readonly revertedBlocks: number;
  /** Transactions of the reverted blocks, oldest first, at most `maxReturnedTransactions`. */
  readonly returned: readonly SealedTransaction[];
};

type ChainErrorCode =
  /** The data directory holds the chain of another network. */
  | "CHAIN_NETWORK_MISMATCH"
  /** The genesis block does not belong to the network description. */
  | "CHAIN_GENESIS_MISMATCH"
  /** The undo record of a block to revert is no longer stored: the target is too deep. */
  | "CHAIN_UNDO_MISSING"
  /** There is no block of this height below the head. */
  | "CHAIN_HEIGHT_UNKNOWN"
  /** The chain has become as high as the branch that should replace its top. */
  | "CHAIN_BRANCH_SHORT"
  /** Blocks or a revert could not be committed; nothing was changed. A retry can succeed once the cause is fixed. */
  | "CHAIN_COMMIT_FAILED"
  /** The chain has blocks whose signatures were not checked because of another pin. */
  | "CHAIN_UNCHECKED"
  /** The chain does not contain the pinned block: the unchecked blocks are discarded. A retry checks all blocks. */
  | "CHAIN_PIN_FAILED"
  /** The chain was closed. */
  | "CHAIN_CLOSED";

export class ChainError extends CodedError<ChainErrorCode> {
  constructor(code: ChainErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, {
      isRetryable: code === "CHAIN_COMMIT_FAILED" || code === "CHAIN_PIN_FAILED",
      ...options,
    });
  }
}

/** Returns the cause if it is an error of the chain; otherwise an error that names what was not committed. */
export const asChainError = (what: string, cause: unknown): ChainError =>
  cause instanceof ChainError
    ? cause
    : new ChainError("CHAIN_COMMIT_FAILED", `${what} could not be committed: ${messageOf(cause)}`, { cause });

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause));

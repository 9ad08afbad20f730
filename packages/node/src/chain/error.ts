/** What can go wrong with the chain as a whole. Refusals of blocks are verdicts, not errors. */

export type ChainErrorCode =
  /** The data directory holds the chain of another network. */
  | "CHAIN_NETWORK_MISMATCH"
  /** The genesis block does not belong to the network description. */
  | "CHAIN_GENESIS_MISMATCH"
  /** The undo of a block to revert is not kept any more; the target is too deep. */
  | "CHAIN_UNDO_MISSING"
  /** No such height below the head. */
  | "CHAIN_HEIGHT_UNKNOWN"
  /** The chain has become as high as the branch that was to replace its top. */
  | "CHAIN_BRANCH_SHORT"
  /** Blocks or a revert could not be committed; nothing of it happened. Worth a retry once the cause is gone. */
  | "CHAIN_COMMIT_FAILED"
  /** The chain has blocks whose signatures were not checked, because of another pin than the given one. */
  | "CHAIN_UNCHECKED"
  /** The chain does not have the pinned block: what was not checked is discarded. Worth a retry: then all is checked. */
  | "CHAIN_PIN_FAILED"
  /** The chain was closed. */
  | "CHAIN_CLOSED";

export class ChainError extends Error {
  readonly code: ChainErrorCode;
  readonly isRetryable: boolean;

  constructor(code: ChainErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ChainError";
    this.code = code;
    this.isRetryable = code === "CHAIN_COMMIT_FAILED" || code === "CHAIN_PIN_FAILED";
  }
}

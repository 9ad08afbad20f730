/** Errors of reading a block. A readable block with errors has faults instead: see `checkBlock`. */

export type BlockErrorCode =
  /** A member of a block object is missing or has a wrong form (blocks.md 6). */
  | "BlockSchemaError"
  /** The id of the previous block does not have the 64 digits that are required at this height (blocks.md 1). */
  | "PreviousBlockIdFormatError"
  /** The bytes end too early, or a length in them is impossible (blocks.md 5). */
  | "INVALID_BLOCK_BYTES";

/** A retry with the same block fails again. */
export class BlockError extends Error {
  readonly code: BlockErrorCode;
  /** Path in the block object, such as `.transactions[0]`, if there is one. */
  readonly path: string | undefined;
  readonly isRetryable = false;

  constructor(code: BlockErrorCode, message: string, path?: string) {
    super(message);
    this.name = "BlockError";
    this.code = code;
    this.path = path;
  }
}

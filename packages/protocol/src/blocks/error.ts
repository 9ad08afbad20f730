/** Why a block cannot be read. A block that can be read but is wrong has faults instead: see `checkBlock`. */

export type BlockErrorCode =
  /** A member of a block object is missing or has a wrong form (blocks.md 6). */
  | "BlockSchemaError"
  /** The id of the previous block has not the 64 digits that are due at this height (blocks.md 1). */
  | "PreviousBlockIdFormatError"
  /** The bytes end too early, or a length in them is impossible (blocks.md 5). */
  | "INVALID_BLOCK_BYTES";

/** Never worth a retry with the same block. */
export class BlockError extends Error {
  readonly code: BlockErrorCode;
  /** Place in the block object, such as `.transactions[0]`, where one can be named. */
  readonly path: string | undefined;
  readonly isRetryable = false;

  constructor(code: BlockErrorCode, message: string, path?: string) {
    super(message);
    this.name = "BlockError";
    this.code = code;
    this.path = path;
  }
}

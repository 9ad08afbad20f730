/** What is wrong with the description of a network. */

export type NetworkErrorCode =
  /** The number of delegates changes inside a round (networks.md 2). */
  | "InvalidMilestoneConfigurationError"
  /** A member of a network file is missing, unknown or out of its range; the message says what to do. */
  | "INVALID_NETWORK_FILE"
  /** The genesis block is not the one that `nethash` names (blocks.md 10). */
  | "GENESIS_NETHASH_MISMATCH";

/** Never worth a retry: somebody has to correct a file. */
export class NetworkError extends Error {
  readonly code: NetworkErrorCode;
  readonly isRetryable = false;

  constructor(code: NetworkErrorCode, message: string) {
    super(message);
    this.name = "NetworkError";
    this.code = code;
  }
}

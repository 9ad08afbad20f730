/** Errors in the description of a network. */

export type NetworkErrorCode =
  /** The number of delegates changes inside a round (networks.md 2). */
  | "InvalidMilestoneConfigurationError"
  /** A member of a network file is missing, unknown or out of its range; the message contains the remedy. */
  | "INVALID_NETWORK_FILE"
  /** The genesis block does not match `nethash` (blocks.md 10). */
  | "GENESIS_NETHASH_MISMATCH";

/** A retry fails again until a file is corrected. */
export class NetworkError extends Error {
  readonly code: NetworkErrorCode;
  readonly isRetryable = false;

  constructor(code: NetworkErrorCode, message: string) {
    super(message);
    this.name = "NetworkError";
    this.code = code;
  }
}

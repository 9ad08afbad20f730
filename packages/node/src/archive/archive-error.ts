/** Reasons why an archive could not be created, read or verified. */
import { CodedError } from "../platform/coded-error.ts";

type ArchiveErrorCode =
  /** The data folder already has a chain. */
  | "ARCHIVE_EXISTS"
  /** The input does not exist. */
  | "ARCHIVE_MISSING"
  /** The archive is truncated or altered; another copy may work. */
  | "ARCHIVE_DAMAGED"
  /** The disk has too little space for its content. */
  | "ARCHIVE_TOO_LARGE"
  /** The archive belongs to another network, or to another version of the program. */
  | "ARCHIVE_FOREIGN"
  /** A block violates a rule of the network. */
  | "ARCHIVE_INVALID";

/** Not retryable with the same input and disk. The message names the file or block, and the remedy. */
export class ArchiveError extends CodedError<ArchiveErrorCode> {
  constructor(code: ArchiveErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, { isRetryable: false, ...options });
  }
}

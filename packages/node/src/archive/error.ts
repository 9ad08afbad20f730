/** Why an archive was not made, not read or not believed. */
export type ArchiveErrorCode =
  /** Something stands where the archive, or what is in it, is to be written. */
  | "ARCHIVE_EXISTS"
  /** There is nothing to read. */
  | "ARCHIVE_MISSING"
  /** It is not what was once written: cut off, or altered. Another copy may do. */
  | "ARCHIVE_DAMAGED"
  /** There is no room on the disk for what is in it. */
  | "ARCHIVE_TOO_LARGE"
  /** It is of another network, or of another version of the program. */
  | "ARCHIVE_FOREIGN"
  /** A block in it breaks a rule of the network. */
  | "ARCHIVE_INVALID";

/** Never worth a retry with the same input and the same disk. The message names the file, the block or the remedy. */
export class ArchiveError extends Error {
  readonly code: ArchiveErrorCode;
  readonly isRetryable = false;

  constructor(code: ArchiveErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ArchiveError";
    this.code = code;
  }
}

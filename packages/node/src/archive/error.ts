/** Why an archive was not made, not read or not believed. */
export type ArchiveErrorCode =
  /** Something stands where the archive, or what is in it, is to be written. */
  | "ARCHIVE_EXISTS"
  /** There is nothing to read. */
  | "ARCHIVE_MISSING"
  /** It is not what was once written: cut off, or altered. Another copy may do. */
  | "ARCHIVE_DAMAGED"
  /** It is of another network. */
  | "ARCHIVE_FOREIGN"
  /** A block in it breaks a rule of the network. */
  | "ARCHIVE_INVALID";

/** Never worth a retry with the same input. The message names the file, the block or the remedy. */
export class ArchiveError extends Error {
  readonly code: ArchiveErrorCode;

  constructor(code: ArchiveErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ArchiveError";
    this.code = code;
  }
}

/** Errors of unusable files in a data folder, with the file, the reason and the remedy. */

import { dirname } from "node:path";
import { CodedError } from "../../platform/coded-error.ts";
import { describeTrouble, troubleOf } from "../../platform/files/disk.ts";

export type DataErrorCode =
  /** A file is damaged. */
  | "DATA_DAMAGED"
  /** A file cannot be opened or written. */
  | "DATA_UNUSABLE"
  /** The disk has no space left. */
  | "DISK_FULL";

export class DataError extends CodedError<DataErrorCode> {
  constructor(code: DataErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, { isRetryable: code === "DISK_FULL", ...options });
  }
}

/** Advice for a damaged database of a network that other nodes have, too. */
export const RUN_REMEDY =
  'move the folder away; then restart to fetch the chain from peers, or restore a snapshot with "uniknode snapshot restore"';

/** TOOBIG: a damaged row claims a value of more than a gigabyte. */
const DAMAGED = /^SQLITE_(NOTADB|CORRUPT|TOOBIG)/;
const UNUSABLE = /^(SQLITE_(CANTOPEN|PERM|AUTH)|EACCES$|EPERM$|EISDIR$|ENOENT$|ENOTDIR$|EROFS$)/;

/**
 * Converts an error to a `DataError` if it concerns a file of the data folder; returns any other error
 * unchanged.
 *
 * @param path of the file that was used; undefined if it is unknown
 * @param remedy what to do when the file is damaged
 */
export function dataErrorOf(error: unknown, path: string | undefined, remedy: string): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  if (error instanceof DataError) return error;
  const options = { cause: error };
  const file = path ?? "the database";
  const codeText = typeof code === "string" ? code : "";
  if (DAMAGED.test(codeText))
    return new DataError("DATA_DAMAGED", `${file} is damaged (${message}): ${remedy}`, options);
  const trouble = troubleOf(error);
  if (trouble === "disk full") {
    const described = path === undefined ? trouble : describeTrouble(trouble, dirname(path));
    return new DataError(
      "DISK_FULL",
      `${described}; free some space, or choose another disk with --data`,
      options,
    );
  }
  if (!trouble && !UNUSABLE.test(codeText)) return error;
  const { path: named = file } = error as { path?: string };
  return new DataError(
    "DATA_UNUSABLE",
    `${named} cannot be used (${message}): make it readable and writable for this user, or choose another folder with --data`,
    options,
  );
}

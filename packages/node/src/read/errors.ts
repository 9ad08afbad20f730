/** Errors of the read model that callers distinguish. */
import { CodedError } from "../platform/coded-error.ts";

/** The cursor does not belong to this list in this order. */
export class CursorError extends CodedError<"CURSOR_UNKNOWN"> {
  constructor() {
    super("CURSOR_UNKNOWN", "the cursor does not belong to this list in this order", { isRetryable: false });
  }
}

/**
 * - `SNAPSHOT_TIMEOUT`: the reads exceed their time; the worker for slow queries has more
 * - `SNAPSHOT_EMPTY`: the chain has no block yet
 * - `SNAPSHOT_ENDED`: a read came after the end of its snapshot, because the work waited for something other than reads
 * - `SNAPSHOT_BUSY`: all connections to the database are in use
 * - `SNAPSHOT_UNREACHABLE`: the database cannot be reached, or it ended the snapshot
 */
type SnapshotErrorCode =
  | "SNAPSHOT_TIMEOUT"
  | "SNAPSHOT_EMPTY"
  | "SNAPSHOT_ENDED"
  | "SNAPSHOT_BUSY"
  | "SNAPSHOT_UNREACHABLE";

const MESSAGES: Readonly<Record<SnapshotErrorCode, string>> = {
  SNAPSHOT_TIMEOUT: "reads aborted: time limit exceeded",
  SNAPSHOT_EMPTY: "the database has no block yet",
  SNAPSHOT_ENDED: "the snapshot has ended: await only its reads inside it",
  SNAPSHOT_BUSY: "reads refused: all connections to the database are in use; retry",
  SNAPSHOT_UNREACHABLE: "reads failed: the database cannot be reached; check that it runs",
};

/** Thrown by reads of a snapshot. */
export class SnapshotError extends CodedError<SnapshotErrorCode> {
  /** Not retryable after a timeout: the same reads would take as long again. */
  constructor(code: SnapshotErrorCode, cause?: unknown) {
    super(code, MESSAGES[code], { isRetryable: code !== "SNAPSHOT_TIMEOUT", cause });
  }
}

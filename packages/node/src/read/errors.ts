/** Errors of the read model that callers distinguish. */

/** The cursor does not belong to this list in this order. */
export class CursorError extends Error {
  readonly code = "CURSOR_UNKNOWN";
  readonly isRetryable = false;

  constructor() {
    super("the cursor does not belong to this list in this order");
    this.name = "CursorError";
  }
}

/**
 * - `SNAPSHOT_TIMEOUT`: the reads exceed their time; the worker for slow queries has more
 * - `SNAPSHOT_EMPTY`: the chain has no block yet
 * - `SNAPSHOT_ENDED`: a read came after the end of its snapshot, because the work waited for something other than reads
 */
export type SnapshotErrorCode = "SNAPSHOT_TIMEOUT" | "SNAPSHOT_EMPTY" | "SNAPSHOT_ENDED";

const MESSAGES: Readonly<Record<SnapshotErrorCode, string>> = {
  SNAPSHOT_TIMEOUT: "reads aborted: time limit exceeded",
  SNAPSHOT_EMPTY: "the database has no block yet",
  SNAPSHOT_ENDED: "the snapshot has ended: await only its reads inside it",
};

/** Thrown by reads of a snapshot. */
export class SnapshotError extends Error {
  readonly code: SnapshotErrorCode;
  /** True if the same reads may succeed later. False after a timeout: they would take as long again. */
  readonly isRetryable: boolean;

  constructor(code: SnapshotErrorCode) {
    super(MESSAGES[code]);
    this.name = "SnapshotError";
    this.code = code;
    this.isRetryable = code !== "SNAPSHOT_TIMEOUT";
  }
}

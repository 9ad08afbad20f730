/** Reads that belong together: all of them see the database at one commit. */
import type { Database } from "../../store/engine/database.ts";

/** The last committed block. */
export type Head = {
  readonly id: string;
  readonly height: number;
  /** Seconds since the network epoch. */
  readonly timestamp: number;
};

/**
 * Runs synchronous reads inside one read transaction; `head` is the block whose state they see. Undefined is a
 * database without a genesis block.
 *
 * @throws {SnapshotError} when the reads look at more rows than they have time for
 */
export type Snapshot = <T>(work: (head: Head | undefined) => T) => T;

/** Reads took too long. The same reads may succeed on a faster machine, not a moment later. */
export class SnapshotError extends Error {
  readonly code = "SNAPSHOT_TIMEOUT";
  readonly isRetryable = false;

  constructor(maxMs: number) {
    super(`reads were given up after ${maxMs} ms`);
    this.name = "SnapshotError";
  }
}

/**
 * @param maxMs time for the rows that filters have no index for: nothing else happens in this thread meanwhile
 */
export function createSnapshot(database: Database, maxMs: number): Snapshot {
  const reads = createReads(database, maxMs);
  return (work) => {
    const head = reads.begin();
    reads.limitTime();
    try {
      return work(head);
    } finally {
      reads.commit();
    }
  };
}

/** Reads of one turn of the event loop, all of which see the database at one commit. */
export type SharedSnapshots = {
  readonly snapshot: Snapshot;
  /** Of this turn; undefined without a genesis block. */
  head(): Head | undefined;
  /** Ends the transaction of this turn, if it has one: before the connection is closed. */
  end(): void;
};

/**
 * Snapshots that requests share which arrive together: beginning and ending a transaction takes as long as finding a
 * row. It ends with the turn of the event loop in which it was begun, so that whoever was told of a block, and asks
 * then, is answered by what was read later.
 *
 * @param maxMs as above, for each work
 */
export function createSharedSnapshots(database: Database, maxMs: number): SharedSnapshots {
  const reads = createReads(database, maxMs);
  let turn: { readonly head: Head | undefined; readonly end: NodeJS.Immediate } | undefined;

  function end(): void {
    if (!turn) return;
    clearImmediate(turn.end);
    turn = undefined;
    reads.commit();
  }

  function head(): Head | undefined {
    turn ??= { head: reads.begin(), end: setImmediate(end) };
    return turn.head;
  }

  return {
    snapshot(work) {
      const now = head();
      reads.limitTime();
      return work(now);
    },
    head,
    end,
  };
}

/** Counted of the time between two looks at the clock: when it is more, the machine was busy with something else. */
const MAX_STEP_MS = 5;

function createReads(database: Database, maxMs: number) {
  // Deferred, so that a connection that cannot write may begin it; the first read fixes what all of them see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const head = database.prepare<Head>(
    "SELECT id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  let leftMs = 0;
  let lookedMs = 0;
  // Lists ask it every few rows that they look at.
  database.define("in_time", () => {
    const nowMs = performance.now();
    leftMs -= Math.min(nowMs - lookedMs, MAX_STEP_MS);
    lookedMs = nowMs;
    if (leftMs < 0) throw new SnapshotError(maxMs);
    return 1;
  });
  return {
    begin(): Head | undefined {
      begin.run();
      try {
        return head.get();
      } catch (error) {
        commit.run();
        throw error;
      }
    },
    commit: () => void commit.run(),
    /** The time for the rows of one work begins. */
    limitTime(): void {
      leftMs = maxMs;
      lookedMs = performance.now();
    },
  };
}

/** A value that changes with the head only: computed once for each. */
export function perHead<T>(compute: (head: Head) => T): (head: Head) => T {
  let known: { id: string; value: T } | undefined;
  return (head) => {
    if (known?.id !== head.id) known = { id: head.id, value: compute(head) };
    return known.value;
  };
}

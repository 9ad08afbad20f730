/** Reads that belong together: all of them see the database at one commit. */
import type { Database } from "../database.ts";

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

  constructor(maxMs: number) {
    super(`reads were given up after ${maxMs} ms`);
    this.name = "SnapshotError";
  }
}

/**
 * @param maxMs time for the rows that filters have no index for: nothing else happens in this thread meanwhile
 */
export function createSnapshot(database: Database, maxMs: number): Snapshot {
  // Deferred, so that a connection that cannot write may begin it; the first read fixes what all of them see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const head = database.prepare<Head>(
    "SELECT id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  let endsAtMs = 0;
  // Lists ask it every few rows that they look at.
  database.define("in_time", () => {
    if (performance.now() > endsAtMs) throw new SnapshotError(maxMs);
    return 1;
  });
  return (work) => {
    begin.run();
    endsAtMs = performance.now() + maxMs;
    try {
      return work(head.get());
    } finally {
      commit.run();
    }
  };
}

/**
 * Tells the id of the head at each moment; undefined without a genesis block. Nothing is read while nobody wrote.
 */
export function createHeadWatch(database: Database): () => string | undefined {
  const version = database.prepare<{ data_version: number }>("PRAGMA data_version");
  const head = database.prepare<{ id: string }>("SELECT id FROM blocks ORDER BY height DESC LIMIT 1");
  let known: number | undefined;
  let id: string | undefined;
  return () => {
    const now = version.get()!.data_version;
    // In this order, so that what is written in between is seen the next time.
    if (now !== known) id = head.get()?.id;
    known = now;
    return id;
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

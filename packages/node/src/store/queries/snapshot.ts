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
 */
export type Snapshot = <T>(work: (head: Head | undefined) => T) => T;

export function createSnapshot(database: Database): Snapshot {
  // Deferred, so that a connection that cannot write may begin it; the first read fixes what all of them see.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  const head = database.prepare<Head>(
    "SELECT id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  return (work) => {
    begin.run();
    try {
      return work(head.get());
    } finally {
      commit.run();
    }
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

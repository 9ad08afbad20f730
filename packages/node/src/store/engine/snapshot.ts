/** Several reads of one commit of the database. */
import type { Database } from "./database.ts";

/** Runs synchronous reads inside one read transaction. An error of `work` is rethrown. */
export type ReadTogether = <T>(work: () => T) => T;

export function createReadTogether(database: Database): ReadTogether {
  // Deferred, so that a read-only connection can begin it; the first read fixes the snapshot of all reads.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  return (work) => {
    begin.run();
    try {
      return work();
    } finally {
      commit.run();
    }
  };
}

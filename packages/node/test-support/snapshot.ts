/** Synchronous reads of one commit, with its head, for tests of the parts of the read model. */

import { present } from "../src/platform/present.ts";
import type { Head } from "../src/read/port.ts";
import type { TimeBox } from "../src/read/sqlite/lists/time-box.ts";
import { createReadTogether, type Database } from "../src/store/engine/database.ts";

export type SynchronousSnapshot = <T>(work: (head: Head) => T) => T;

/** @param time limit for the rows of one query */
export function createSnapshot(database: Database, time: TimeBox): SynchronousSnapshot {
  const readTogether = createReadTogether(database);
  const head = database.prepare<Head>(
    "SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1",
  );
  return (work) =>
    readTogether(() => {
      time.begin();
      return work(present(head.get()));
    });
}

/** Time for the rows of one list: nothing else happens in this thread meanwhile. */
import type { Database } from "../../../store/engine/database.ts";
import { SnapshotError } from "../../errors.ts";

/** Counted of the time between two looks at the clock: when it is more, the machine was busy with something else. */
const MAX_STEP_MS = 5;

export type ReadTime = {
  /** The time for the rows of one list begins. */
  begin(): void;
};

export function createReadTime(database: Database, maxMs: number): ReadTime {
  let leftMs = 0;
  let lookedMs = 0;
  // Lists ask it every few rows that they look at.
  database.define("in_time", () => {
    const nowMs = performance.now();
    leftMs -= Math.min(nowMs - lookedMs, MAX_STEP_MS);
    lookedMs = nowMs;
    if (leftMs < 0) throw new SnapshotError("SNAPSHOT_TIMEOUT");
    return 1;
  });
  return {
    begin() {
      leftMs = maxMs;
      lookedMs = performance.now();
    },
  };
}

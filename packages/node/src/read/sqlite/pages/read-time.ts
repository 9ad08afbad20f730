/** Time for the rows of one list: nothing else happens in this thread meanwhile. */
import { SnapshotError } from "../../errors.ts";

/** Counted of the time between two checks of the clock: when it is more, the machine was busy with something else. */
const MAX_STEP_MS = 5;

export type ReadTime = {
  /** The time for the rows of one list begins. */
  begin(): void;
  /**
   * To be asked before every statement that reads as many rows as take some milliseconds, and no more.
   *
   * @returns milliseconds since the last check
   * @throws {SnapshotError} when the time is up
   */
  check(): number;
};

export function createReadTime(maxMs: number): ReadTime {
  let leftMs = 0;
  let checkedMs = 0;
  return {
    begin() {
      leftMs = maxMs;
      checkedMs = performance.now();
    },
    check() {
      const nowMs = performance.now();
      const spentMs = nowMs - checkedMs;
      checkedMs = nowMs;
      leftMs -= Math.min(spentMs, MAX_STEP_MS);
      if (leftMs < 0) throw new SnapshotError("SNAPSHOT_TIMEOUT");
      return spentMs;
    },
  };
}

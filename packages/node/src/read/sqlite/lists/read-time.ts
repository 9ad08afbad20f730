/** Time limit for reading one list: the read blocks its thread. */
import { SnapshotError } from "../../errors.ts";

/** Maximum that counts of the time between two checks of the clock: beyond it, the machine was busy with other work. */
const MAX_STEP_MS = 5;

export type ReadTime = {
  /** Starts the time for the rows of one list. */
  begin(): void;
  /**
   * Must be called before every statement; a statement must not read more rows than it can in some milliseconds.
   *
   * @returns milliseconds since the last check
   * @throws {SnapshotError} if the time is up
   */
  check(): number;
};

export function createReadTime(maxMs: number): ReadTime {
  let remainingMs = 0;
  let checkedMs = 0;
  return {
    begin() {
      remainingMs = maxMs;
      checkedMs = performance.now();
    },
    check() {
      const nowMs = performance.now();
      const spentMs = nowMs - checkedMs;
      checkedMs = nowMs;
      remainingMs -= Math.min(spentMs, MAX_STEP_MS);
      if (remainingMs < 0) throw new SnapshotError("SNAPSHOT_TIMEOUT");
      return spentMs;
    },
  };
}

/** Repeated errors: one log line per minute and cause, with the number of repetitions. */
import { setNewest } from "../bounded-entries.ts";

export type Repeats = {
  /**
   * Registers an error that is about to be logged.
   *
   * @returns number of repetitions dropped since it was last logged; undefined: drop this one too
   */
  note(cause: string): number | undefined;
};

const QUIET_MS = 60_000;
/** Maximum of remembered causes; a new one replaces the oldest. */
const MAX_CAUSES = 100;

export function createRepeats(nowMs: () => number): Repeats {
  const known = new Map<string, { readonly loggedMs: number; leftOut: number }>();
  return {
    note(cause) {
      const before = known.get(cause);
      if (before && nowMs() - before.loggedMs < QUIET_MS) {
        before.leftOut++;
        return undefined;
      }
      setNewest(known, cause, { loggedMs: nowMs(), leftOut: 0 }, MAX_CAUSES);
      return before?.leftOut ?? 0;
    },
  };
}

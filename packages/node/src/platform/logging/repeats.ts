/** Errors that come again and again: one line a minute for each cause says how often. */

export type Repeats = {
  /**
   * Takes note of an error that is about to be logged.
   *
   * @returns how often it was left out since it was logged last; undefined: it is to be left out
   */
  note(cause: string): number | undefined;
};

const QUIET_MS = 60_000;
/** Causes that are remembered; the oldest is forgotten for a new one. */
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
      known.delete(cause);
      if (known.size >= MAX_CAUSES) known.delete(known.keys().next().value!);
      known.set(cause, { loggedMs: nowMs(), leftOut: 0 });
      return before?.leftOut ?? 0;
    },
  };
}

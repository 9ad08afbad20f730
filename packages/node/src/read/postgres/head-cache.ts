/** The last known head. */
import type { Head } from "../head.ts";

export type HeadCache = {
  /** Returns the head without a promise if it was read less than the given time ago. Concurrent callers share a read. */
  head(): Head | undefined | Promise<Head | undefined>;
  /** Stores the head that a snapshot has just read. */
  note(head: Head): void;
};

export function createHeadCache(maxAgeMs: number, read: () => Promise<Head | undefined>): HeadCache {
  let known: { readonly head: Head | undefined; readonly untilMs: number } | undefined;
  let reading: Promise<Head | undefined> | undefined;

  const note = (head: Head | undefined): void => {
    known = { head, untilMs: performance.now() + maxAgeMs };
  };

  return {
    head() {
      if (known && performance.now() < known.untilMs) return known.head;
      reading ??= read()
        .then((head) => {
          note(head);
          return head;
        })
        .finally(() => {
          reading = undefined;
        });
      return reading;
    },
    note,
  };
}

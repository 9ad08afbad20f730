/**
 * Cursors every thousand rows in lists that an index has in their order, cached until the next block, so that a page with
 * a large offset starts near its first row. They are computed only as far as a request needs them.
 */
import { LRUCache } from "lru-cache";
import { type Head, perHead } from "../../head.ts";

export type Marks = {
  /**
   * Returns the last mark before an offset, if any, and the remaining offset from that mark.
   *
   * @param next the cursor so many rows after another one, or after the beginning; undefined beyond the end
   */
  before(
    head: Head,
    list: string,
    offset: number,
    next: Next,
  ): { readonly cursor?: string; readonly rest: number };
};

type Next = (cursor: string | undefined, rows: number) => string | undefined;

const STEP = 1_000;
/** Maximum number of cached lists. Each uses 200 bytes per step: 4 MB in total at two hundred thousand rows. */
const MAX_LISTS = 100;

export function createMarks(): Marks {
  const lists = perHead(() => new LRUCache<string, string[]>({ max: MAX_LISTS }));
  return {
    before(head, list, offset, next) {
      const wanted = Math.floor(offset / STEP);
      if (wanted === 0) return { rest: offset };
      const cursors = lists(head).get(list) ?? [];
      lists(head).set(list, cursors);
      while (cursors.length < wanted) {
        const cursor = next(cursors.at(-1), STEP);
        if (cursor === undefined) break;
        cursors.push(cursor);
      }
      const count = Math.min(wanted, cursors.length);
      const cursor = cursors[count - 1];
      return { ...(cursor !== undefined && { cursor }), rest: offset - count * STEP };
    },
  };
}

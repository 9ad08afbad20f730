/** Count cache: numbers of rows of filters, cached by head. */
import { LRUCache } from "lru-cache";
import type { PostgresValue } from "../../../postgres/connection.ts";
import type { Head } from "../../head.ts";

/** Returns a count from the cache, or the result of `count`, which concurrent callers share. */
export type CountCache = (
  head: Head,
  filter: { readonly sql: string; readonly values: readonly PostgresValue[] },
  count: () => Promise<number>,
) => Promise<number>;

/** Maximum number of cached counts of all heads, and the maximum length of a filter with a cached count. */
const MAX_COUNTS = 1_000;
const MAX_NAME_LENGTH = 4_000;

export function createCountCache(): CountCache {
  const known = new LRUCache<string, Promise<number>>({ max: MAX_COUNTS });
  return function read(head, filter, count): Promise<number> {
    const { sql, values } = filter;
    const name = `${head.id} ${sql} ${JSON.stringify(values)}`;
    if (name.length > MAX_NAME_LENGTH) return count();
    const cached = known.get(name);
    // Counts again: the snapshot of the other caller may have had less time.
    if (cached) return cached.catch(() => read(head, filter, count));
    const counted = count();
    known.set(name, counted);
    counted.catch(() => {
      if (known.peek(name) === counted) known.delete(name);
    });
    return counted;
  };
}

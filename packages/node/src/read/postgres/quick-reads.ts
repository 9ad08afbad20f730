/**
 * Limits the reads of a shared transaction. Its statements run one after the other, so that a slow statement delays all
 * others: each transaction has at most one statement of a list that exceeds the time limit, and none that is in the negative
 * cache of timeouts.
 */
import { LRUCache } from "lru-cache";
import { PostgresError } from "../../postgres/error.ts";
import { isOfList, type ReadQuery } from "../../postgres/reads.ts";

/**
 * Maximum number of cached statements that exceeded the limit, the time for which they are cached, and their maximum
 * length with their values.
 */
const MAX_SLOW = 1_000;
const SLOW_MS = 10_000;
const MAX_NAME_LENGTH = 4_000;

/**
 * Returns a function that limits the reads of one transaction; refused reads fail with POSTGRES_TIMEOUT, like
 * statements that exceed the time limit.
 */
export function createQuickReads<Value>(): (query: ReadQuery<Value>) => ReadQuery<Value> {
  const slow = new LRUCache<string, true>({ max: MAX_SLOW, ttl: SLOW_MS });
  const isSlow = (name: string) => slow.size > 0 && slow.has(name);

  return (query) => {
    let hasExceeded = false;
    return async (statement, values = []) => {
      const isList = isOfList(statement);
      const text = typeof statement === "string" ? statement : statement.name;
      const name = `${text} ${JSON.stringify(values)}`;
      if (isSlow(name) || (isList && hasExceeded)) throw new PostgresError("POSTGRES_TIMEOUT");
      try {
        return await query(statement, values);
      } catch (error) {
        if (error instanceof PostgresError && error.code === "POSTGRES_TIMEOUT") {
          hasExceeded = true;
          // Without an error of the server, another statement used up the time.
          if (error.cause !== undefined && name.length <= MAX_NAME_LENGTH) slow.set(name, true);
        }
        throw error;
      }
    };
  };
}

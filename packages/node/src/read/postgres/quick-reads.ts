/**
 * Reads of a shared transaction, whose statements run one after the other: a slow one delays all of them. Each transaction
 * therefore has at most one statement of a list that exceeds the time limit, and none that exceeded it a moment ago.
 */
import { LRUCache } from "lru-cache";
import { PostgresError } from "../../postgres/error.ts";
import { isOfList, type ReadQuery } from "../../postgres/reads.ts";

/** Statements with their values that exceeded the limit, the time for which they are known, and their maximum length. */
const MAX_SLOW = 1_000;
const SLOW_MS = 10_000;
const MAX_NAME_LENGTH = 4_000;

/**
 * Returns a function that limits the reads of one transaction; what it refuses fails with POSTGRES_TIMEOUT, like a statement that
 * exceeds the time limit.
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
          // Without an error of the server, another statement took the time of this one.
          if (error.cause !== undefined && name.length <= MAX_NAME_LENGTH) slow.set(name, true);
        }
        throw error;
      }
    };
  };
}

/** Negative cache of queries that timed out. */
import { LRUCache } from "lru-cache";
import { SnapshotError } from "../../errors.ts";

const MAX_LISTS = 200;
const RETRY_AFTER_MS = 10_000;

/** @throws {SnapshotError} thrown by `work`, now or in a recent call */
export type UnlessGivenUp = <T>(nameOf: () => string, work: () => T) => T;

export function createGivenUp(): UnlessGivenUp {
  const tooLong = new LRUCache<string, SnapshotError>({ max: MAX_LISTS, ttl: RETRY_AFTER_MS });
  return (nameOf, work) => {
    const late = tooLong.size > 0 ? tooLong.get(nameOf()) : undefined;
    if (late) throw late;
    try {
      return work();
    } catch (error) {
      if (error instanceof SnapshotError) tooLong.set(nameOf(), error);
      throw error;
    }
  };
}

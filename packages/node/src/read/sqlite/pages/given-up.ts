/** Lists that took longer than there was time for are not tried again for a while. */
import { LRUCache } from "lru-cache";
import { SnapshotError } from "../../errors.ts";

const MAX_LISTS = 200;
const RETRY_AFTER_MS = 10_000;

/** @throws {SnapshotError} of `work`, now or a while ago */
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

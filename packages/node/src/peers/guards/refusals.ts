/** Addresses that are refused for a fixed time. */

export type RefusalOptions = {
  durationMs: number;
};

/** Times are milliseconds of one monotonic clock. */
export type Refusals = {
  add(address: string, at: number): void;
  has(address: string, at: number): boolean;
};

/**
 * Maximum number of refused addresses. The oldest refusal ends early, so that a client with many addresses
 * cannot fill the memory.
 */
const MAX_ADDRESSES = 10_000;

export function createRefusals({ durationMs }: RefusalOptions): Refusals {
  /** Beginning of the refusal by address, the earliest first. */
  const since = new Map<string, number>();

  return {
    add(address, at) {
      since.delete(address);
      since.set(address, at);
      const [oldest] = since.keys();
      if (since.size > MAX_ADDRESSES && oldest !== undefined) since.delete(oldest);
    },
    has(address, at) {
      for (const [refused, began] of since) {
        if (at - began < durationMs) break;
        since.delete(refused);
      }
      return since.has(address);
    },
  };
}

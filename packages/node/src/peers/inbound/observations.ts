/** Counts how often the latest block was received, which decides how widely it is broadcast (p2p.md 11 and 12.1). */

export type ObservedBlock = {
  readonly id: string;
  readonly height: number;
  /** 0 for a block of this node's own forger. */
  readonly count: number;
  /** Milliseconds of a monotonic clock. */
  readonly firstAt: number;
  readonly lastAt: number;
};

export type BlockObservations = {
  /** The latest block. */
  last(): ObservedBlock | undefined;
  /** Counts another observation of the latest block; returns false for any other block. */
  count(block: { readonly id: string; readonly height: number }, at: number): boolean;
  /** Replaces the latest block. */
  begin(block: { readonly id: string; readonly height: number }, at: number, count: 0 | 1): void;
};

export function createBlockObservations(): BlockObservations {
  let last: ObservedBlock | undefined;
  return {
    last: () => last,
    count({ id, height }, at) {
      if (last?.id !== id || last.height !== height) return false;
      last = { ...last, count: last.count + 1, lastAt: at };
      return true;
    },
    begin({ id, height }, at, count) {
      last = { id, height, count, firstAt: at, lastAt: at };
    },
  };
}

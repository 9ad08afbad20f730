/** How often the latest block was seen, which decides how far it is passed on (p2p.md 11 and 12.1). */

export type ObservedBlock = {
  readonly id: string;
  readonly height: number;
  /** 0 for a block of this node's own forger. */
  readonly count: number;
  /** Milliseconds of a steady clock. */
  readonly firstAt: number;
  readonly lastAt: number;
};

export type BlockObservations = {
  /** The block seen last. */
  last(): ObservedBlock | undefined;
  /** Counts another sighting of the last block; false if it is another block. */
  count(block: { readonly id: string; readonly height: number }, at: number): boolean;
  /** A new block is the last one from here on. */
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

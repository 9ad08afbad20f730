/** Bounds the bytes of replies that wait for slow readers. */

export type UnsentOptions = {
  /** Maximum for one connection. */
  readonly maxBytes: number;
  /** Maximum for all connections in total. */
  readonly maxTotalBytes: number;
};

export type Unsent = {
  /**
   * Watches a connection until it is forgotten.
   *
   * @param read returns the bytes that wait for it now
   * @param cut called when they are too many, or the most of all while the total is exceeded
   */
  watch(read: () => number, cut: () => void): Watched;
};

export type Watched = {
  /** Returns true if `bytes` more may wait for the connection. */
  hasCapacity(bytes: number): boolean;
  forget(): void;
};

/** A connection with less than this does not trigger the check of the total. */
const LAG_BYTES = 64 * 1024;

type Entry = { readonly read: () => number; readonly cut: () => void };

export function createUnsent({ maxBytes, maxTotalBytes }: UnsentOptions): Unsent {
  const entries = new Set<Entry>();

  function cut(entry: Entry): void {
    entries.delete(entry);
    entry.cut();
  }

  /** Cuts the connections with the most waiting bytes until `bytes` more fit. */
  function makeRoom(bytes: number): void {
    const waiting = [...entries].map((entry) => ({ entry, bytes: entry.read() }));
    waiting.sort((one, other) => other.bytes - one.bytes);
    let total = waiting.reduce((sum, each) => sum + each.bytes, bytes);
    for (const longest of waiting) {
      if (total <= maxTotalBytes) return;
      total -= longest.bytes;
      cut(longest.entry);
    }
  }

  return {
    watch(read, cutSocket) {
      const entry: Entry = { read, cut: cutSocket };
      entries.add(entry);
      return {
        hasCapacity(bytes) {
          const waiting = read() + bytes;
          if (waiting > maxBytes) cut(entry);
          else if (waiting > LAG_BYTES) makeRoom(bytes);
          return entries.has(entry);
        },
        forget: () => void entries.delete(entry),
      };
    },
  };
}

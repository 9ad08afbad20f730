/** Replies that others ask for and do not take: what slow readers can make this node hold. */

export type UnsentOptions = {
  /** Of one connection. */
  readonly maxBytes: number;
  /** Of all together. */
  readonly maxTotalBytes: number;
};

export type Unsent = {
  /**
   * Counts a connection until it is forgotten.
   *
   * @param read bytes that wait for it at this moment
   * @param cut is called when they are too many, or the most while all together are too many
   */
  watch(read: () => number, cut: () => void): Watched;
};

export type Watched = {
  /** Whether so many bytes may wait beside the others. */
  hasCapacity(bytes: number): boolean;
  forget(): void;
};

/** Connections that lag by less are not worth a look at all of them. */
const LAG_BYTES = 64 * 1024;

type Entry = { readonly read: () => number; readonly cut: () => void };

export function createUnsent({ maxBytes, maxTotalBytes }: UnsentOptions): Unsent {
  const entries = new Set<Entry>();

  function cut(entry: Entry): void {
    entries.delete(entry);
    entry.cut();
  }

  /** Until so many bytes more fit, or nobody is left. */
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

/** Bounds the bytes of incomplete messages, which clients can make this node keep in memory. */
import type { Duplex } from "node:stream";

export type Unfinished = {
  /**
   * Counts the bytes that arrive at a socket. `cut` is called when its message is longer than `maxBytes`, or when it
   * is the longest message while the total is exceeded.
   */
  watch(socket: Duplex, maxBytes: () => number, cut: () => void): Watched;
};

export type Watched = {
  /** A message is complete. */
  finished(): void;
};

/**
 * Allowance for frame headers, which are many in a fragmented message, and for bytes that arrive after an
 * unread message.
 */
const FRAMING_BYTES = 128 * 1024;

type Entry = { bytes: number; readonly cut: () => void };

export function createUnfinished(options: { readonly maxTotalBytes: number }): Unfinished {
  const entries = new Set<Entry>();
  let total = 0;

  function forget(entry: Entry): void {
    total -= entry.bytes;
    entry.bytes = 0;
  }

  function cutLongest(): void {
    const longest = [...entries].reduce((one, other) => (other.bytes > one.bytes ? other : one));
    forget(longest);
    entries.delete(longest);
    longest.cut();
  }

  return {
    watch(socket, maxBytes, cut) {
      const entry: Entry = { bytes: 0, cut };
      entries.add(entry);
      socket.on("data", ({ length }: Uint8Array) => {
        if (!entries.has(entry)) return;
        entry.bytes += length;
        total += length;
        if (entry.bytes > maxBytes() + FRAMING_BYTES) {
          forget(entry);
          entries.delete(entry);
          cut();
        }
        if (total > options.maxTotalBytes) cutLongest();
      });
      socket.once("close", () => {
        forget(entry);
        entries.delete(entry);
      });
      return { finished: () => forget(entry) };
    },
  };
}

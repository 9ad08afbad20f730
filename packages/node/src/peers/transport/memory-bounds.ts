/** Bounds the bytes that other nodes can make this node keep: incomplete messages, and replies that wait for slow readers. */
import type { Duplex } from "node:stream";

/**
 * Allowance for frame headers, which are many in a fragmented message, and for bytes that arrive after an
 * unread message.
 */
const FRAMING_BYTES = 128 * 1024;

type Incomplete = { bytes: number; readonly cut: () => void };

/** Bounds the bytes of incomplete messages. */
export class Unfinished {
  readonly #maxTotalBytes: number;
  readonly #entries = new Set<Incomplete>();
  #total = 0;

  constructor({ maxTotalBytes }: { readonly maxTotalBytes: number }) {
    this.#maxTotalBytes = maxTotalBytes;
  }

  /**
   * Counts the bytes that arrive at a socket. `cut` is called when its message is longer than `maxBytes`, or when it
   * is the longest message while the total is exceeded.
   *
   * @returns a function to call when a message is complete
   */
  watch(socket: Duplex, maxBytes: () => number, cut: () => void): () => void {
    const entry: Incomplete = { bytes: 0, cut };
    this.#entries.add(entry);
    socket.on("data", ({ length }: Uint8Array) => {
      if (!this.#entries.has(entry)) return;
      entry.bytes += length;
      this.#total += length;
      if (entry.bytes > maxBytes() + FRAMING_BYTES) {
        this.#forget(entry);
        this.#entries.delete(entry);
        cut();
      }
      if (this.#total > this.#maxTotalBytes) this.#cutLongest();
    });
    socket.once("close", () => {
      this.#forget(entry);
      this.#entries.delete(entry);
    });
    return () => this.#forget(entry);
  }

  #forget(entry: Incomplete): void {
    this.#total -= entry.bytes;
    entry.bytes = 0;
  }

  #cutLongest(): void {
    const longest = [...this.#entries].reduce((one, other) => (other.bytes > one.bytes ? other : one));
    this.#forget(longest);
    this.#entries.delete(longest);
    longest.cut();
  }
}

export type UnsentOptions = {
  /** Maximum for one connection. */
  readonly maxBytes: number;
  /** Maximum for all connections in total. */
  readonly maxTotalBytes: number;
};

export type Watched = {
  /** Returns true if `bytes` more may wait for the connection. */
  hasCapacity(bytes: number): boolean;
  forget(): void;
};

/** A connection with less than this does not trigger the check of the total. */
const LAG_BYTES = 64 * 1024;

type Waiting = { readonly read: () => number; readonly cut: () => void };

/** Bounds the bytes of replies that wait for slow readers. */
export class Unsent {
  readonly #options: UnsentOptions;
  readonly #entries = new Set<Waiting>();

  constructor(options: UnsentOptions) {
    this.#options = options;
  }

  /**
   * Watches a connection until it is forgotten.
   *
   * @param read returns the bytes that wait for it now
   * @param cut called when they are too many, or the most of all while the total is exceeded
   */
  watch(read: () => number, cut: () => void): Watched {
    const entry: Waiting = { read, cut };
    this.#entries.add(entry);
    return {
      hasCapacity: (bytes) => {
        const waiting = read() + bytes;
        if (waiting > this.#options.maxBytes) this.#cut(entry);
        else if (waiting > LAG_BYTES) this.#makeRoom(bytes);
        return this.#entries.has(entry);
      },
      forget: () => void this.#entries.delete(entry),
    };
  }

  #cut(entry: Waiting): void {
    this.#entries.delete(entry);
    entry.cut();
  }

  /** Cuts the connections with the most waiting bytes until `bytes` more fit. */
  #makeRoom(bytes: number): void {
    const waiting = [...this.#entries].map((entry) => ({ entry, bytes: entry.read() }));
    waiting.sort((one, other) => other.bytes - one.bytes);
    let total = waiting.reduce((sum, each) => sum + each.bytes, bytes);
    for (const longest of waiting) {
      if (total <= this.#options.maxTotalBytes) return;
      total -= longest.bytes;
      this.#cut(longest.entry);
    }
  }
}

/** The part of a socket that is needed. */
type Counted = {
  readonly bytesRead: number;
  readonly bytesWritten: number;
  once(event: "close", listener: () => void): unknown;
};

export type TrafficFigures = { readonly receivedBytes: number; readonly sentBytes: number };

/** Bytes between this node and others, counted at the sockets. */
export class Traffic {
  readonly #open = new Set<Counted>();
  #ended: TrafficFigures = { receivedBytes: 0, sentBytes: 0 };

  /** Counts the bytes of a connection until it has ended, and keeps its total. */
  watch(socket: Counted): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#ended = sum(this.#ended, socket);
    });
  }

  /** Returns the totals since the process started. */
  read(): TrafficFigures {
    return [...this.#open].reduce(sum, this.#ended);
  }
}

const sum = (
  { receivedBytes, sentBytes }: TrafficFigures,
  { bytesRead, bytesWritten }: Counted,
): TrafficFigures => ({
  receivedBytes: receivedBytes + bytesRead,
  sentBytes: sentBytes + bytesWritten,
});

/** The connection to one client; buffers at most one event more than the buffer of the connection. */
import type { Writable } from "node:stream";

export type Sink = {
  readonly isOpen: () => boolean;
  /** Returns whether the client has not yet read what was written. */
  readonly isFull: () => boolean;
  write(text: string): void;
  /** Returns the written bytes that are still in this process. */
  readonly unreadBytes: () => number;
  /** Settles when the client has read what was written, or has disconnected. */
  ready(): Promise<void>;
  /** Like `ready`, for at most `timeoutMs`; resolves to whether it happened in time. */
  readyWithin(timeoutMs: number): Promise<boolean>;
  /** Ends the connection after sending what was written. */
  end(): void;
  /** Drops the connection with all unsent data. */
  cut(): void;
};

export function createSink(response: Writable, onClosed: () => void): Sink {
  let isOpen = !response.destroyed;
  let taken = Promise.withResolvers<void>();
  const proceed = () => {
    taken.resolve();
    taken = Promise.withResolvers();
  };
  response.on("drain", proceed);
  response.on("close", () => {
    isOpen = false;
    proceed();
    onClosed();
  });
  // A reset connection also emits `close`.
  response.on("error", () => {});

  const isFull = () => isOpen && response.writableNeedDrain;
  return {
    isOpen: () => isOpen,
    isFull,
    unreadBytes: () => (isOpen ? response.writableLength : 0),
    write: (text) => void (isOpen && response.write(text)),
    ready: async () => void (isFull() && (await taken.promise)),
    async readyWithin(timeoutMs) {
      if (!isFull()) return true;
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, timeoutMs);
      await Promise.race([taken.promise, late.promise]);
      clearTimeout(timer);
      return !isFull();
    },
    end() {
      isOpen = false;
      response.end();
    },
    cut() {
      isOpen = false;
      response.destroy();
    },
  };
}

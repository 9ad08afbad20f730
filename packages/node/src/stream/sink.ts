/** The way to one reader: holds what the connection has not taken yet, which is at most one event more than its buffer. */
import type { Writable } from "node:stream";

export type Sink = {
  readonly isOpen: () => boolean;
  /** Whether the reader has yet to take what was written. */
  readonly isFull: () => boolean;
  write(text: string): void;
  /** What was written and waits in this process. */
  readonly unreadBytes: () => number;
  /** Settles when the reader has taken what was written, or is gone. */
  ready(): Promise<void>;
  /** Waits for that, but no longer than `timeoutMs`; answers whether it came. */
  readyWithin(timeoutMs: number): Promise<boolean>;
  /** Ends the connection; what was written still arrives. */
  end(): void;
  /** Drops the connection with everything in it. */
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
  // A connection that is reset is closed as well, which is all that counts.
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

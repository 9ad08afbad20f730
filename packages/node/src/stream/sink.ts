/** The way to one reader: holds what the connection has not taken yet, which is little, because nobody writes while it waits. */
import type { Writable } from "node:stream";

export type Sink = {
  readonly isOpen: () => boolean;
  /** Whether the reader has yet to take what was written. */
  readonly isFull: () => boolean;
  write(text: string): void;
  /** Settles when the reader has taken what was written, or is gone. */
  ready(): Promise<void>;
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
    write: (text) => void (isOpen && response.write(text)),
    ready: async () => void (isFull() && (await taken.promise)),
    end() {
      isOpen = false;
      response.end();
    },
    cut: () => void response.destroy(),
  };
}

/** Notifications within a thread: of readers that wait for events, with or without a time limit, and of listeners. */

/** Notifies all readers that there may be new events. */
export class Notifier {
  #next = Promise.withResolvers<void>();

  notify(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** Resolves at the next `notify`. */
  next(): Promise<void> {
    return this.#next.promise;
  }
}

export type Subscribe<T> = (listener: (value: T) => void) => () => void;

/** Listeners of one kind of notification, called in the order in which they subscribed. */
export class Subscribers<T> {
  readonly #onError: ((error: unknown) => void) | undefined;
  readonly #listeners = new Set<(value: T) => void>();

  /**
   * @param onError called with the error that a listener threw; later listeners are still called. Without it,
   * `notify` throws the error, and later listeners are not called
   */
  constructor(onError?: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Calls the listener at every notification, until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  notify(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        if (!this.#onError) throw error;
        this.#onError(error);
      }
    }
  }
}

/** Waits for the promise, but at most for this time. Returns false after the time. */
export async function isWithin(promise: Promise<void>, timeMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, Math.max(timeMs, 0), false);
  const isInTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
}

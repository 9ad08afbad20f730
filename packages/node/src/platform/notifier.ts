/**
 * Notifications within a thread: of readers that wait for events, with or without a time limit, and of listeners.
 */
/** Notifies all readers that there may be new events. */
export type Notifier = {
  notify(): void;
  /** Resolves at the next `notify`. */
  next(): Promise<void>;
};

export function createNotifier(): Notifier {
  let next = Promise.withResolvers<void>();
  return {
    notify() {
      next.resolve();
      next = Promise.withResolvers();
    },
    next: () => next.promise,
  };
}

export type Subscribe<T> = (listener: (value: T) => void) => () => void;

/** Listeners of one kind of notification, called in the order in which they subscribed. */
export type Subscribers<T> = {
  /** Calls the listener at every notification, until the returned function is called. */
  readonly subscribe: Subscribe<T>;
  notify(value: T): void;
};

/**
 * @param onError called with the error that a listener threw; later listeners are still called. Without it,
 * `notify` throws the error, and later listeners are not called
 */
export function createSubscribers<T>(onError?: (error: unknown) => void): Subscribers<T> {
  const listeners = new Set<(value: T) => void>();
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify(value) {
      for (const listener of [...listeners]) {
        try {
          listener(value);
        } catch (error) {
          if (!onError) throw error;
          onError(error);
        }
      }
    },
  };
}

/** Waits for the promise, but at most for this time. Returns false after the time. */
export async function isWithin(promise: Promise<void>, timeMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, Math.max(timeMs, 0), false);
  const isInTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
}

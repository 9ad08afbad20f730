/** Listeners of one kind of notification, called in the order in which they subscribed. */

export type Subscribe<T> = (listener: (value: T) => void) => () => void;

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

/** Notifies all readers that there may be new events. */
export type Notifier = {
  notify(): void;
  /** Settles with the next `notify`. */
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

/** Reads items while the consumer works on earlier ones: fewer and larger transactions, and no waiting for the connection. */
import { createNotifier } from "../platform/notifier.ts";

export type AheadOptions<T> = {
  /** Nothing more is read while this number of items, or more than this size, has not been taken. */
  readonly maxItems: number;
  readonly maxSize: number;
  readonly sizeOf: (item: T) => number;
};

/** Yields what has arrived since the last time, at least one item. An error of the source follows the items before it. */
export async function* readAhead<T>(
  items: AsyncIterable<T>,
  { maxItems, maxSize, sizeOf }: AheadOptions<T>,
): AsyncIterable<T[]> {
  const source = items[Symbol.asyncIterator]();
  const [arrived, taken] = [createNotifier(), createNotifier()];
  let queue: T[] = [];
  let size = 0;
  let isAbandoned = false;

  async function read(): Promise<void> {
    for (;;) {
      const { value, done } = await source.next();
      if (done || isAbandoned) return;
      queue.push(value);
      size += sizeOf(value);
      arrived.notify();
      while (!isAbandoned && (queue.length >= maxItems || size > maxSize)) await taken.next();
    }
  }

  let end: { readonly error?: unknown } | undefined;
  read()
    .then(
      () => {
        end = {};
      },
      (error: unknown) => {
        end = { error };
      },
    )
    .finally(arrived.notify);
  try {
    for (;;) {
      while (queue.length === 0 && !end) await arrived.next();
      if (queue.length === 0) break;
      const batch = queue;
      queue = [];
      size = 0;
      taken.notify();
      yield batch;
    }
    if (end?.error !== undefined) throw end.error;
  } finally {
    isAbandoned = true;
    taken.notify();
    // Not awaited: the next item may never come; the end of the connection settles it, even with an error.
    source.return?.().catch(() => {});
  }
}

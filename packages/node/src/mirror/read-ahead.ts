/**
 * Reads items while the consumer processes earlier ones: transactions become fewer and larger, and do not wait for the
 * connection.
 */
import { createNotifier } from "../platform/notifier.ts";

export type AheadOptions<T> = {
  /** Reading pauses while this number of items, or more than this size, is queued. */
  readonly maxItems: number;
  readonly maxSize: number;
  readonly sizeOf: (item: T) => number;
};

/**
 * Yields all items that arrived since the previous batch, at least one. Throws an error of the source after the items
 * before it.
 */
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
    // It is not awaited, because the next item may never arrive. The end of the connection settles the promise, possibly with
    // an error.
    source.return?.().catch(() => {});
  }
}

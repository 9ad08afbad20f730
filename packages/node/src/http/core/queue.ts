/** A queue that processes a few items in each tick of the event loop. */

export type Queue<T> = { push(item: T): void };

/** @param perTick number of items that are processed before other events of the loop */
export function createQueue<T>(perTick: number, work: (item: T) => void): Queue<T> {
  let items: T[] = [];
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || items.length === 0) return;
    isScheduled = true;
    setImmediate(run);
  }

  function run(): void {
    isScheduled = false;
    const now = items.slice(0, perTick);
    items = items.slice(perTick);
    try {
      for (const item of now) work(item);
    } finally {
      schedule();
    }
  }

  return {
    push(item) {
      items.push(item);
      schedule();
    },
  };
}

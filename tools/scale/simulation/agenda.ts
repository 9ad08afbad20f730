/** Simulated time: actions run in the order of their times. */

export type Agenda = {
  /** Seconds since the start. */
  now(): number;
  /** Runs an action after some seconds. */
  after(seconds: number, action: () => void): void;
  /** Runs all actions before a time, including the actions that they add. */
  runUntil(seconds: number): void;
};

type Entry = { readonly at: number; readonly order: number; readonly action: () => void };

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export function createAgenda(): Agenda {
  const heap: Entry[] = [];
  let [now, count] = [0, 0];
  return {
    now: () => now,
    after(seconds, action) {
      push(heap, { at: now + seconds, order: count++, action });
    },
    runUntil(seconds) {
      for (let next = heap[0]; next && next.at < seconds; next = heap[0]) {
        pop(heap);
        now = next.at;
        next.action();
      }
      now = seconds;
    },
  };
}

/** Adds an entry to a binary heap. */
function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent];
    if (!above || !isBefore(entry, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = entry;
}

/** Removes the first entry. */
function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
    const isRight = left !== undefined && right !== undefined && isBefore(right, left);
    const child = isRight ? right : left;
    if (!child || !isBefore(child, last)) break;
    heap[at] = child;
    at = 2 * at + (isRight ? 2 : 1);
  }
  heap[at] = last;
}

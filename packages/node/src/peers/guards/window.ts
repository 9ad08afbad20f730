/** Counter of events per key, in fixed windows that begin with the first event. */

export type Window = { events: number; windowMs: number };

export type WindowCounter = {
  /** Counts an event; false if the limit of the window is exceeded. */
  take(key: string, at: number): boolean;
  /** Number of keys with a window that has not ended. */
  size(): number;
};

type Count = { readonly startedAt: number; events: number };

/** Times are milliseconds of one monotonic clock. */
export function createWindowCounter({ events, windowMs }: Window): WindowCounter {
  // Oldest first, since a new window is added at the end.
  const counts = new Map<string, Count>();

  function forgetEnded(at: number): void {
    for (const [key, { startedAt }] of counts) {
      if (at - startedAt < windowMs) return;
      counts.delete(key);
    }
  }

  return {
    take: (key, at) => {
      forgetEnded(at);
      const count = counts.get(key);
      if (!count) counts.set(key, { startedAt: at, events: 1 });
      else count.events++;
      return (count?.events ?? 1) <= events;
    },
    size: () => counts.size,
  };
}

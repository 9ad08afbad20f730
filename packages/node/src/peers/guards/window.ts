/** Counting of events per key in windows of time that begin with an event. */

export type Window = { events: number; windowMs: number };

export type WindowCounter = {
  /** Counts an event; false if it is one too many. */
  take(key: string, at: number): boolean;
  /** Keys that are remembered: those of one window. */
  size(): number;
};

type Count = { readonly startedAt: number; events: number };

/** @param window `at` of its events are milliseconds of one steady clock */
export function createWindowCounter({ events, windowMs }: Window): WindowCounter {
  // Oldest first, since a new window is put behind the others.
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

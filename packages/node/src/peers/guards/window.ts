/** Limits of the number of events in a window of time: a counter for received ones, and a pacer for sent ones. */
export type Window = { events: number; windowMs: number };

export type WindowCounter = {
  /** Counts an event; false if the limit of the window is exceeded. */
  take(key: string, at: number): boolean;
  /** Number of keys with a window that has not ended. */
  size(): number;
};

type Count = { readonly startedAt: number; events: number };

/**
 * Counts events per key, in fixed windows that begin with the first event. Times are milliseconds of one monotonic clock.
 */
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

export type Pacer = {
  send(text: string): void;
  /** Total length of the waiting texts. */
  waitingLength(): number;
  close(): void;
};

/** Sends texts in order, at most `events` in any `windowMs`; the others wait. */
export function createPacer({ events, windowMs }: Window, transmit: (text: string) => void): Pacer {
  /** Times of the last sent texts, oldest first. */
  const sent: number[] = [];
  const waiting: string[] = [];
  let waitingLength = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    const now = performance.now();
    for (let [first] = sent; first !== undefined && now - first >= windowMs; [first] = sent) sent.shift();
    while (sent.length < events) {
      const text = waiting.shift();
      if (text === undefined) return;
      sent.push(now);
      waitingLength -= text.length;
      transmit(text);
    }
    const [first = now] = sent;
    if (waiting.length > 0) timer = setTimeout(flush, windowMs - (now - first));
  }

  return {
    send(text) {
      waiting.push(text);
      waitingLength += text.length;
      if (!timer) flush();
    },
    waitingLength: () => waitingLength,
    close() {
      clearTimeout(timer);
      waiting.length = 0;
      waitingLength = 0;
    },
  };
}

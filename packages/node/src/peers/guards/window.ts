/** Limits of the number of events in a window of time: a counter for received ones, and a pacer for sent ones. */
export type Window = { events: number; windowMs: number };

type Count = { readonly startedAt: number; events: number };

/**
 * Counts events per key, in fixed windows that begin with the first event. Times are milliseconds of one monotonic clock.
 */
export class WindowCounter {
  readonly #window: Window;
  // Oldest first, since a new window is added at the end.
  readonly #counts = new Map<string, Count>();

  constructor(window: Window) {
    this.#window = window;
  }

  /** Counts an event; false if the limit of the window is exceeded. */
  take(key: string, at: number): boolean {
    for (const [other, { startedAt }] of this.#counts) {
      if (at - startedAt < this.#window.windowMs) break;
      this.#counts.delete(other);
    }
    const count = this.#counts.get(key);
    if (!count) this.#counts.set(key, { startedAt: at, events: 1 });
    else count.events++;
    return (count?.events ?? 1) <= this.#window.events;
  }

  /** Number of keys with a window that has not ended. */
  size(): number {
    return this.#counts.size;
  }
}

/** Sends texts in order, at most `events` in any `windowMs`; the others wait. */
export class Pacer {
  readonly #window: Window;
  readonly #transmit: (text: string) => void;
  /** Times of the last sent texts, oldest first. */
  readonly #sent: number[] = [];
  readonly #waiting: string[] = [];
  #waitingLength = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(window: Window, transmit: (text: string) => void) {
    this.#window = window;
    this.#transmit = transmit;
  }

  send(text: string): void {
    this.#waiting.push(text);
    this.#waitingLength += text.length;
    if (!this.#timer) this.#flush();
  }

  /** Total length of the waiting texts. */
  waitingLength(): number {
    return this.#waitingLength;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#waiting.length = 0;
    this.#waitingLength = 0;
  }

  #flush(): void {
    const { events, windowMs } = this.#window;
    const sent = this.#sent;
    this.#timer = undefined;
    const now = performance.now();
    for (let [first] = sent; first !== undefined && now - first >= windowMs; [first] = sent) sent.shift();
    while (sent.length < events) {
      const text = this.#waiting.shift();
      if (text === undefined) return;
      sent.push(now);
      this.#waitingLength -= text.length;
      this.#transmit(text);
    }
    const [first = now] = sent;
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#flush(), windowMs - (now - first));
  }
}

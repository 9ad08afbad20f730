/** The time and timers of the webhook service. */
export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls `work` after a delay, unless the returned function is called before. */
  after(delayMs: number, work: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: Date.now,
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

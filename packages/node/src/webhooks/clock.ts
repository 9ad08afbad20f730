/** Time, as far as deliveries need it. */
export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls `work` later; the answer takes it back. */
  after(delayMs: number, work: () => void): () => void;
};

export const systemClock: Clock = {
  nowMs: Date.now,
  after(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Calls to targets that are under way. */
import type { Clock } from "../clock.ts";

export type InFlight = {
  size(): number;
  /** Begins a call with a signal that aborts it; it must not reject. */
  begin(call: (signal: AbortSignal) => Promise<void>): void;
  /** Settles when every call has ended: those that take longer than the grace are aborted. */
  close(graceMs: number): Promise<void>;
};

export function createInFlight(clock: Pick<Clock, "after">): InFlight {
  const calls = new Set<Promise<void>>();
  const abort = new AbortController();
  return {
    size: () => calls.size,
    begin(call) {
      const ended = call(abort.signal).finally(() => calls.delete(ended));
      calls.add(ended);
    },
    async close(graceMs) {
      const answered = Promise.all(calls);
      const grace = Promise.withResolvers<void>();
      const cancelGrace = clock.after(graceMs, grace.resolve);
      await Promise.race([answered, grace.promise]);
      cancelGrace();
      abort.abort();
      await answered;
    },
  };
}

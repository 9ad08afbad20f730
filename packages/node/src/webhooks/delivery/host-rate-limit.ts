/** At most so many calls a second to one host, however many webhooks point there. */
import type { Clock } from "../clock.ts";
import type { MakeAttempt } from "./attempt.ts";

/** A host that was not called for so long may get at once the calls of that time. */
const BURST_MS = 1_000;
/** Hosts in memory; beyond it, those whose calls are not delayed are dropped. */
const MAX_HOSTS = 10_000;

export type HostRateOptions = {
  /** Calls to one host; 0 for no limit. */
  readonly maxPerSecond: number;
};

/** Delays attempts to keep the rate of their host. A delayed attempt occupies slots of its own webhook only. */
export function createRateLimitedAttempt(
  { maxPerSecond }: HostRateOptions,
  { attempt, clock }: { attempt: MakeAttempt; clock: Clock },
): MakeAttempt {
  if (maxPerSecond === 0) return attempt;
  /** By host: until when the calls so far take up the allowed rate. */
  const takenUntilMs = new Map<string, number>();

  function pauseMsOf(host: string): number {
    const nowMs = clock.nowMs();
    const fromMs = Math.max(nowMs, takenUntilMs.get(host) ?? 0);
    takenUntilMs.set(host, fromMs + 1_000 / maxPerSecond);
    if (takenUntilMs.size > MAX_HOSTS) dropPast(nowMs);
    return Math.max(0, fromMs - BURST_MS - nowMs);
  }

  function dropPast(nowMs: number): void {
    for (const [host, atMs] of takenUntilMs) if (atMs <= nowMs) takenUntilMs.delete(host);
  }

  return async (message, signal) => {
    const pauseMs = pauseMsOf(new URL(message.target).host);
    if (pauseMs > 0) await pause(pauseMs, signal, clock);
    return signal.aborted ? undefined : attempt(message, signal);
  };
}

/** Settles after a time, or with the signal. */
function pause(delayMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(delayMs, resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(cancel);
}

/** At most so many calls a second to one host, however many webhooks point there. */
import type { Clock } from "../clock.ts";
import type { MakeAttempt } from "./attempt.ts";

/** A host that had nothing for so long gets what it would have had in that time at once. */
const BURST_MS = 1_000;
/** Hosts that are remembered; those that have nothing to wait for are forgotten first. */
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
  /** When the places of a host that are given away so far are used up at an even pace. */
  const usedUpMs = new Map<string, number>();

  function pauseMsOf(host: string): number {
    const nowMs = clock.nowMs();
    const fromMs = Math.max(nowMs, usedUpMs.get(host) ?? 0);
    usedUpMs.set(host, fromMs + 1_000 / maxPerSecond);
    if (usedUpMs.size > MAX_HOSTS) forget(nowMs);
    return Math.max(0, fromMs - BURST_MS - nowMs);
  }

  function forget(nowMs: number): void {
    for (const [host, atMs] of usedUpMs) if (atMs <= nowMs) usedUpMs.delete(host);
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

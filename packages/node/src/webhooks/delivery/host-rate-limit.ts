/** At most so many calls a second to one host, however many webhooks point there. */
import type { Clock } from "../clock.ts";
import { createElapsed } from "../elapsed.ts";
import type { MakeAttempt } from "./attempt.ts";

/** A host that was not called for so long may get at once the calls of that time. */
const BURST_MS = 1_000;
/** Hosts in memory; beyond it, those whose calls are not delayed are dropped. */
const MAX_HOSTS = 10_000;

export type HostRateOptions = {
  /** Calls to one host; 0 for no limit. */
  readonly maxPerSecond: number;
};

/** When the hosts of targets may be called. */
export type HostRates = {
  /** Milliseconds until a call to the host of a target may begin; 0: now. */
  delayMs(target: string): number;
  /** Counts a call that begins now; `false`, and nothing is counted, if it must wait. */
  take(target: string): boolean;
};

/** `undefined`: there is no limit. */
export function createHostRates({ maxPerSecond }: HostRateOptions, clock: Clock): HostRates | undefined {
  if (maxPerSecond === 0) return undefined;
  const elapsedMs = createElapsed(clock.nowMs);
  /** By host: until when the calls so far take up the allowed rate. */
  const takenUntilMs = new Map<string, number>();
  const hostOf = (target: string) => new URL(target).host;
  const delayOf = (host: string, nowMs: number) =>
    Math.max(0, (takenUntilMs.get(host) ?? 0) - BURST_MS - nowMs);

  function dropPast(nowMs: number): void {
    for (const [host, atMs] of takenUntilMs) if (atMs <= nowMs) takenUntilMs.delete(host);
  }

  return {
    delayMs: (target) => delayOf(hostOf(target), elapsedMs()),
    take(target) {
      const host = hostOf(target);
      const nowMs = elapsedMs();
      if (delayOf(host, nowMs) > 0) return false;
      takenUntilMs.set(host, Math.max(nowMs, takenUntilMs.get(host) ?? 0) + 1_000 / maxPerSecond);
      if (takenUntilMs.size > MAX_HOSTS) dropPast(nowMs);
      return true;
    },
  };
}

/** Delays attempts outside of the queues, such as pings, until the rate of their host allows them. */
export function createRateLimitedAttempt(
  options: HostRateOptions,
  {
    attempt,
    clock,
    rates = createHostRates(options, clock),
  }: {
    attempt: MakeAttempt;
    clock: Clock;
    rates?: HostRates | undefined;
  },
): MakeAttempt {
  if (rates === undefined) return attempt;
  return async (message, signal) => {
    const { target } = message;
    while (!signal.aborted && !rates.take(target)) await pause(rates.delayMs(target), signal, clock);
    return signal.aborted ? undefined : attempt(message, signal);
  };
}

/** Settles after a time, or with the signal; nothing is left of it then. */
function pause(delayMs: number, signal: AbortSignal, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Limits the calls per second to one host, over all webhooks. */
import type { Clock } from "../collaborators.ts";
import { hostOf } from "../model/targets.ts";
import type { MakeAttempt } from "./attempt.ts";

/** Maximum burst: a host that was idle may get the calls of this time at once. */
const BURST_MS = 1_000;
/** Maximum of hosts in memory; beyond it, hosts without delayed calls are dropped. */
const MAX_HOSTS = 10_000;

export type HostRateOptions = {
  /** Maximum of calls per second to one host; 0 for no limit. */
  readonly webhookHostRate: number;
};

/** Call rates of the hosts of targets. */
export type HostRates = {
  /** Returns the milliseconds until a call to the host of a target may start; 0: now. */
  delayMs(target: string): number;
  /** Counts a call that starts now; returns `false` without counting if the call must wait. */
  take(target: string): boolean;
};

/** Creates the rates of hosts; returns undefined if there is no limit. */
export function createHostRates({ webhookHostRate }: HostRateOptions, clock: Clock): HostRates | undefined {
  if (webhookHostRate === 0) return undefined;
  const { elapsedMs } = clock;
  /** Time until which the previous calls use up the allowed rate, by host. */
  const takenUntilMs = new Map<string, number>();
  const delayOf = (host: string, nowMs: number) =>
    Math.max(0, (takenUntilMs.get(host) ?? 0) - BURST_MS - nowMs);

  function dropPast(nowMs: number): void {
    for (const [host, atMs] of takenUntilMs) if (atMs <= nowMs) takenUntilMs.delete(host);
  }

  return {
    delayMs: (target) => delayOf(hostOf(target).withPort, elapsedMs()),
    take(target) {
      const host = hostOf(target).withPort;
      const nowMs = elapsedMs();
      if (delayOf(host, nowMs) > 0) return false;
      takenUntilMs.set(host, Math.max(nowMs, takenUntilMs.get(host) ?? 0) + 1_000 / webhookHostRate);
      if (takenUntilMs.size > MAX_HOSTS) dropPast(nowMs);
      return true;
    },
  };
}

/** Delays attempts outside the queues, such as pings, until the rate of their host allows them. */
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

/** Settles after a delay or when the signal aborts; removes its timer and listener. */
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

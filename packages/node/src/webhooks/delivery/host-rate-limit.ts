/** Limits the calls per second to one host, over all webhooks. */
import type { Clock } from "../collaborators.ts";
import { hostOf } from "../model/targets.ts";
import type { MakeAttempt } from "./attempt.ts";

/** Maximum burst: a host that was idle may get the calls of this time at once. */
const BURST_MS = 1_000;
/** Maximum of hosts in memory; beyond it, hosts without delayed calls are dropped. */
const MAX_HOSTS = 10_000;

export class HostRates {
  readonly #callsPerSecond: number;
  readonly #clock: Pick<Clock, "elapsedMs">;
  /** Time until which the previous calls use up the allowed rate, by host. */
  readonly #takenUntilMs = new Map<string, number>();

  /** @param callsPerSecond maximum of calls per second to one host; 0 for no limit */
  constructor(callsPerSecond: number, clock: Pick<Clock, "elapsedMs">) {
    this.#callsPerSecond = callsPerSecond;
    this.#clock = clock;
  }

  /** Returns the milliseconds until a call to the host of a target may start; 0: now. */
  delayMs(target: string): number {
    if (this.#callsPerSecond === 0) return 0;
    return this.#delayOf(hostOf(target).withPort, this.#clock.elapsedMs());
  }

  /** Counts a call that starts now; returns `false` without counting if the call must wait. */
  take(target: string): boolean {
    if (this.#callsPerSecond === 0) return true;
    const host = hostOf(target).withPort;
    const nowMs = this.#clock.elapsedMs();
    if (this.#delayOf(host, nowMs) > 0) return false;
    const freeMs = Math.max(nowMs, this.#takenUntilMs.get(host) ?? 0);
    this.#takenUntilMs.set(host, freeMs + 1_000 / this.#callsPerSecond);
    if (this.#takenUntilMs.size > MAX_HOSTS) this.#dropPast(nowMs);
    return true;
  }

  #delayOf(host: string, nowMs: number): number {
    return Math.max(0, (this.#takenUntilMs.get(host) ?? 0) - BURST_MS - nowMs);
  }

  #dropPast(nowMs: number): void {
    for (const [host, atMs] of this.#takenUntilMs) if (atMs <= nowMs) this.#takenUntilMs.delete(host);
  }
}

/** Returns a function that delays attempts outside the queues, such as pings, until the rate of their host allows them. */
export const limitRate =
  (attempt: MakeAttempt, rates: HostRates, clock: Pick<Clock, "after">): MakeAttempt =>
  async (message, signal) => {
    const { target } = message;
    while (!signal.aborted && !rates.take(target)) await pause(rates.delayMs(target), signal, clock);
    return signal.aborted ? undefined : attempt(message, signal);
  };

/** Settles after a delay or when the signal aborts; removes its timer and listener. */
function pause(delayMs: number, signal: AbortSignal, clock: Pick<Clock, "after">): Promise<void> {
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

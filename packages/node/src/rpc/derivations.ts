/** Key derivations from passwords (scrypt): each costs a large part of a second of CPU time, and 16 MiB. */
import { MINUTE_MS } from "../platform/clock/durations.ts";
import { ofStatus } from "./rpc-error.ts";

export type Derivations = {
  /**
   * Runs a derivation after those queued before it; an aborted signal removes it from the queue.
   *
   * @throws {RpcError} 429 when too many are queued, or ran in the current minute
   * @throws the reason of the signal
   */
  run<T>(derive: () => Promise<T>, signal?: AbortSignal): Promise<T>;
};

export type DerivationOptions = {
  /** Maximum per minute; 0 for no limit. */
  readonly perMinute: number;
  /** Returns the Unix time in milliseconds. */
  readonly nowMs: () => number;
};

const MAX_RUNNING = 2;
const MAX_WAITING = 32;

export function createDerivations({ perMinute, nowMs }: DerivationOptions): Derivations {
  const waiting: (() => void)[] = [];
  let running = 0;
  let minute = { endsMs: 0, begun: 0 };

  function count(): void {
    const now = nowMs();
    if (now >= minute.endsMs) minute = { endsMs: now + MINUTE_MS, begun: 0 };
    if (perMinute > 0 && minute.begun >= perMinute) {
      const seconds = Math.ceil((minute.endsMs - now) / 1_000);
      throw ofStatus(
        429,
        `bip38: rate limit of ${perMinute} calls per minute exceeded; retry in ${seconds} s`,
      );
    }
    minute.begun += 1;
  }

  function waitInQueue(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      waiting.push(begin);
    });
  }

  return {
    async run(derive, signal) {
      if (running >= MAX_RUNNING && waiting.length >= MAX_WAITING) {
        throw ofStatus(429, `bip38: ${MAX_WAITING} calls are already waiting; retry later`);
      }
      count();
      if (running >= MAX_RUNNING) await waitInQueue(signal);
      else running += 1;
      try {
        return await derive();
      } finally {
        // The next one in the queue runs instead.
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}

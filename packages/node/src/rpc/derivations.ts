/** Key derivations from passwords (scrypt): each costs a large part of a second of CPU time, and 16 MiB. */
import { MINUTE_MS } from "../platform/clock/durations.ts";
import { ofStatus } from "./rpc-error.ts";

type DerivationOptions = {
  /** Maximum per minute; 0 for no limit. */
  readonly perMinute: number;
  /** Returns the Unix time in milliseconds. */
  readonly nowMs: () => number;
};

const MAX_RUNNING = 2;
const MAX_WAITING = 32;

export class Derivations {
  readonly #options: DerivationOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #minute = { endsMs: 0, begun: 0 };

  constructor(options: DerivationOptions) {
    this.#options = options;
  }

  /**
   * Runs a derivation after those queued before it; an aborted signal removes it from the queue. It is also called without its object.
   *
   * @throws {RpcError} 429 when too many are queued, or ran in the current minute
   * @throws the reason of the signal
   */
  readonly run = async <T>(derive: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    if (this.#running >= MAX_RUNNING && this.#waiting.length >= MAX_WAITING) {
      throw ofStatus(429, `bip38: ${MAX_WAITING} calls are already waiting; retry later`);
    }
    this.#count();
    if (this.#running >= MAX_RUNNING) await this.#waitInQueue(signal);
    else this.#running += 1;
    try {
      return await derive();
    } finally {
      // The next one in the queue runs instead.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  };

  /** @throws {RpcError} 429 when too many ran in the current minute */
  #count(): void {
    const { perMinute, nowMs } = this.#options;
    const now = nowMs();
    const leftMs = this.#minute.endsMs - now;
    // More is left only after the clock was set back.
    if (leftMs <= 0 || leftMs > MINUTE_MS) this.#minute = { endsMs: now + MINUTE_MS, begun: 0 };
    if (perMinute > 0 && this.#minute.begun >= perMinute) {
      const seconds = Math.ceil((this.#minute.endsMs - now) / 1_000);
      throw ofStatus(
        429,
        `bip38: rate limit of ${perMinute} calls per minute exceeded; retry in ${seconds} s`,
      );
    }
    this.#minute.begun += 1;
  }

  #waitInQueue(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.push(begin);
    });
  }
}

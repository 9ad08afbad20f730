/** Simulated failures of receivers: attempts fail although the receiver works. */
import { setTimeout as sleep } from "node:timers/promises";
import { disconnected, type Post, TimeoutError } from "./post.ts";

export type Failure =
  /** Every attempt gets a response with the status; the receiver gets nothing. */
  | { readonly how: "refuse"; readonly status: number }
  /** Every attempt reaches the receiver late, or never if the timeout of an attempt is shorter. */
  | { readonly how: "delay"; readonly seconds: number }
  /** The connection of every attempt is closed without a response; the receiver gets nothing. */
  | { readonly how: "drop" };

const SIMULATED = "simulated failure (dev chain)";

export class Failures {
  readonly #post: Post;
  readonly #timeoutMs: number;
  readonly #failures = new Map<number, Failure>();

  /** @param timeoutMs timeout of an attempt, the same as that of `post` */
  constructor(post: Post, timeoutMs: number) {
    this.#post = post;
    this.#timeoutMs = timeoutMs;
  }

  /** Starts a failure; replaces the previous one of the webhook. */
  begin(webhook: number, failure: Failure): void {
    this.#failures.delete(webhook);
    this.#failures.set(webhook, failure);
  }

  end(webhook: number): void {
    this.#failures.delete(webhook);
  }

  /** Returns all failures by webhook, in the order of their start. */
  all(): ReadonlyMap<number, Failure> {
    return this.#failures;
  }

  /** Sends a request, or simulates the failure of its webhook. */
  readonly post: Post = async (request, signal) => {
    const failure = this.#failures.get(request.webhook);
    switch (failure?.how) {
      case undefined:
        return this.#post(request, signal);
      case "refuse":
        return { status: failure.status, excerpt: SIMULATED };
      case "delay": {
        const delayMs = failure.seconds * 1_000;
        await sleep(Math.min(delayMs, this.#timeoutMs), undefined, { signal });
        if (delayMs >= this.#timeoutMs) throw new TimeoutError(this.#timeoutMs);
        return this.#post(request, signal);
      }
      case "drop":
        throw disconnected(SIMULATED);
    }
  };
}

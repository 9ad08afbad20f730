/** Simulated failures of receivers: attempts fail although the receiver works. */
import { setTimeout as sleep } from "node:timers/promises";
import { type DeliveryRequest, disconnected, type Post, TimeoutError } from "./post.ts";

export type Failure =
  /** Every attempt gets a response with the status; the receiver gets nothing. */
  | { readonly how: "refuse"; readonly status: number }
  /** Every attempt reaches the receiver late, or never if the timeout of an attempt is shorter. */
  | { readonly how: "delay"; readonly seconds: number }
  /** The connection of every attempt is closed without a response; the receiver gets nothing. */
  | { readonly how: "drop" };

export type Failures = {
  /** Starts a failure; replaces the previous one of the webhook. */
  begin(webhook: number, failure: Failure): void;
  end(webhook: number): void;
  /** Returns all failures by webhook, in the order of their start. */
  all(): ReadonlyMap<number, Failure>;
  /** Sends a request, or simulates the failure of its webhook. */
  readonly post: Post;
};

const SIMULATED = "simulated failure (dev chain)";

/** @param timeoutMs timeout of an attempt, the same as that of `post` */
export function createFailures(post: Post, timeoutMs: number): Failures {
  const failures = new Map<number, Failure>();

  async function fail(failure: Failure, request: DeliveryRequest, signal: AbortSignal) {
    switch (failure.how) {
      case "refuse":
        return { status: failure.status, excerpt: SIMULATED };
      case "delay": {
        const delayMs = failure.seconds * 1_000;
        await sleep(Math.min(delayMs, timeoutMs), undefined, { signal });
        if (delayMs >= timeoutMs) throw new TimeoutError(timeoutMs);
        return post(request, signal);
      }
      case "drop":
        throw disconnected(SIMULATED);
    }
  }

  return {
    begin(webhook, failure) {
      failures.delete(webhook);
      failures.set(webhook, failure);
    },
    end: (webhook) => void failures.delete(webhook),
    all: () => failures,
    post(request, signal) {
      const failure = failures.get(request.webhook);
      return failure ? fail(failure, request, signal) : post(request, signal);
    },
  };
}

/** Failures of receivers, made in front of them: what the node sees of a receiver in trouble, without one. */
import { setTimeout as sleep } from "node:timers/promises";
import { type DeliveryRequest, type Post, TimeoutError } from "./post.ts";

export type Failure =
  /** Every attempt is answered with the status, and the receiver gets nothing. */
  | { readonly how: "refuse"; readonly status: number }
  /** Every attempt reaches the receiver late, or not at all if the time for an attempt is shorter. */
  | { readonly how: "delay"; readonly seconds: number }
  /** The connection of every attempt is closed without an answer, and the receiver gets nothing. */
  | { readonly how: "drop" };

export type Failures = {
  /** Replaces the one before. */
  begin(webhook: number, failure: Failure): void;
  end(webhook: number): void;
  /** By webhook, in the order of their beginning. */
  all(): ReadonlyMap<number, Failure>;
  /** Of the webhook that the request is for, as long as it has one. */
  readonly post: Post;
};

const ANSWER = "simulated failure (dev chain)";

/** @param timeoutMs time for an attempt, as `post` has it */
export function createFailures(post: Post, timeoutMs: number): Failures {
  const failures = new Map<number, Failure>();

  async function fail(failure: Failure, request: DeliveryRequest, signal: AbortSignal) {
    switch (failure.how) {
      case "refuse":
        return { status: failure.status, excerpt: ANSWER };
      case "delay": {
        const delayMs = failure.seconds * 1_000;
        await sleep(Math.min(delayMs, timeoutMs), undefined, { signal });
        if (delayMs >= timeoutMs) throw new TimeoutError(timeoutMs);
        return post(request, signal);
      }
      case "drop":
        throw new DroppedError();
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

/** As the HTTP library reports a connection that the other side has closed. */
class DroppedError extends Error {
  readonly code = "UND_ERR_SOCKET";
  readonly isRetryable = true;

  constructor() {
    super(`other side closed: ${ANSWER}`);
    this.name = "SocketError";
  }
}

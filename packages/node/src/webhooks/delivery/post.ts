/** Sends one delivery over HTTP. */
import { Agent } from "undici";
import { createGuardedConnector, type GuardOptions, type Lookup, PUBLIC_TARGETS } from "./guard.ts";
import { createResponseHandler, type DeliveryAnswer } from "./response-handler.ts";

export type PostOptions = GuardOptions & {
  /** For the whole exchange, the connection included. */
  readonly timeoutMs: number;
  readonly userAgent: string;
};

export const DEFAULT_POST_OPTIONS: PostOptions = {
  ...PUBLIC_TARGETS,
  connectTimeoutMs: 3_000,
  timeoutMs: 10_000,
  userAgent: "uniknode",
};

export type DeliveryRequest = {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * Settles when the target has answered, whatever it answered. Redirects are an answer like others: none is followed.
 *
 * @throws {Error} with a `code` when there is no answer
 */
export type Post = (request: DeliveryRequest, signal: AbortSignal) => Promise<DeliveryAnswer>;

/** Targets without a delivery for so long lose their connection. */
const IDLE_MS = 10_000;

/** `close` ends the connections that are open. */
export function createPost(options: PostOptions, lookup?: Lookup): { post: Post; close(): Promise<void> } {
  const agent = new Agent({
    connect: createGuardedConnector(options, lookup),
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
  });

  const endWith = createEndings();

  const post: Post = ({ target, headers, body }, signal) =>
    new Promise((resolve, reject) => {
      const { origin, pathname, search } = new URL(target);
      const exchange = createResponseHandler(resolve, reject);
      const end = () => exchange.end(signal.reason);
      const timeout = setTimeout(() => exchange.end(new TimeoutError(options.timeoutMs)), options.timeoutMs);
      const forget = endWith(signal, end);
      exchange.onEnded(() => {
        clearTimeout(timeout);
        forget();
      });
      if (signal.aborted) end();
      else {
        agent.dispatch(
          {
            origin,
            path: `${pathname}${search}`,
            method: "POST",
            headers: { ...headers, "user-agent": options.userAgent },
            body,
            // One time-out holds for everything.
            headersTimeout: 0,
            bodyTimeout: 0,
          },
          exchange.handler,
        );
      }
    });

  return { post, close: () => agent.destroy() };
}

/**
 * Calls `end` when the signal aborts, unless the answer was called before. One listener of a signal serves all that it
 * ends: many exchanges share the signal of the dispatcher, and each listener takes its time.
 */
function createEndings(): (signal: AbortSignal, end: () => void) => () => void {
  const endsBySignal = new WeakMap<AbortSignal, Set<() => void>>();
  return (signal, end) => {
    const ends = endsBySignal.get(signal) ?? new Set();
    if (!endsBySignal.has(signal)) {
      endsBySignal.set(signal, ends);
      signal.addEventListener("abort", () => {
        for (const end of [...ends]) end();
      });
    }
    ends.add(end);
    return () => void ends.delete(end);
  };
}

/** The target did not answer in time. */
class TimeoutError extends Error {
  readonly isRetryable = true;

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = "TimeoutError";
  }
}

/** Sends one delivery over HTTP. */
import type { Agent } from "undici";
import { CodedError } from "../../platform/coded-error.ts";
import { createGuardedConnector, type GuardOptions, type Lookup, PUBLIC_TARGETS } from "./guard.ts";
import { httpClient } from "./http-client.ts";
import { createResponseHandler, type DeliveryResponse } from "./response-handler.ts";

export type PostOptions = GuardOptions & {
  /** Timeout for connection, request and response together. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** Maximum of connections to one target; absent: no bound besides the call slots of the caller. */
  readonly connections?: number;
};

export const DEFAULT_POST_OPTIONS: PostOptions = {
  ...PUBLIC_TARGETS,
  connectTimeoutMs: 3_000,
  timeoutMs: 10_000,
  userAgent: "uniknode",
};

export type DeliveryRequest = {
  /** Id of the message. */
  readonly id: string;
  /** Webhook of the delivery. */
  readonly webhook: number;
  readonly target: string;
  /** True if no other delivery of the webhook is sent at the same time. */
  readonly isStrict: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * Resolves to the response with any status. Redirects are not followed.
 *
 * @throws {Error} with a `code` if there is no response
 */
export type Post = (request: DeliveryRequest, signal: AbortSignal) => Promise<DeliveryResponse>;

/** Time without a delivery after which a connection is closed. */
const IDLE_MS = 10_000;

/** Creates a sender; `close` ends its open connections. */
export function createPost(options: PostOptions, lookup?: Lookup): { post: Post; close(): Promise<void> } {
  let agent: Agent | undefined;
  function startAgent(): Agent {
    const { Agent } = httpClient();
    return new Agent({
      connect: createGuardedConnector(options, lookup),
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      ...(options.connections !== undefined && { connections: options.connections }),
    });
  }

  const onAbort = createAbortListeners();

  const post: Post = ({ target, headers, body }, signal) =>
    new Promise((resolve, reject) => {
      const { origin, pathname, search } = new URL(target);
      const response = createResponseHandler(resolve, reject);
      const end = () => response.end(signal.reason);
      const timeout = setTimeout(() => response.end(new TimeoutError(options.timeoutMs)), options.timeoutMs);
      const removeListener = onAbort(signal, end);
      response.onEnded(() => {
        clearTimeout(timeout);
        removeListener();
      });
      if (signal.aborted) end();
      else {
        agent ??= startAgent();
        agent.dispatch(
          {
            origin,
            path: `${pathname}${search}`,
            method: "POST",
            headers: { ...headers, "user-agent": options.userAgent },
            body,
            // One timeout covers the whole request.
            headersTimeout: 0,
            bodyTimeout: 0,
          },
          response.handler,
        );
      }
    });

  return { post, close: async () => agent?.destroy() };
}

/**
 * Calls `end` when the signal aborts, unless the returned function was called before. Many requests share the signal of the
 * dispatcher and a single listener, because each listener costs time.
 */
function createAbortListeners(): (signal: AbortSignal, end: () => void) => () => void {
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

/** The target did not respond in time. The delivery log shows the code. */
export class TimeoutError extends CodedError<"TimeoutError"> {
  constructor(timeoutMs: number) {
    super("TimeoutError", `no response within ${timeoutMs} ms`, { isRetryable: true });
  }
}

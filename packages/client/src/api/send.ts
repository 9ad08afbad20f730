/** Sends a request with its timeout and its retries, and reads the response. */
import { ApiError, bodyOf, refusalOf } from "./error.ts";
import { withPosition } from "./position.ts";
import { type ApiRequest, createConnect, nameOf } from "./request.ts";
import type { Sleep } from "./sleep.ts";

/**
 * Settles with the body of a successful response.
 *
 * @throws {ApiError} for every other response, and if there is none
 */
export type Send = <Body>(request: ApiRequest) => Promise<Body>;

export type SendOptions = {
  /** Base URL of the node: `http://127.0.0.1:4003`, with the path of a proxy if there is one. */
  readonly url: string;
  /** Timeout of each attempt, including the whole response. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Number of further attempts for requests that change nothing. Default: 2. */
  readonly retries?: number;
  /** Longest time to wait before a further attempt; if the node demands more, there is none. Default: 60,000. */
  readonly maxWaitMs?: number;
  /** Aborts running and later requests, and pauses between attempts. */
  readonly signal?: AbortSignal;
};

type SendDependencies = {
  readonly fetch: typeof fetch;
  readonly sleep: Sleep;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
};

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/** Pause before the second attempt; doubled before each further one. */
const FIRST_WAIT_MS = 250;
/** A node counts requests by the minute: after that time it accepts requests again. */
const MAX_WAIT_MS = 60_000;

/**
 * @param read reads the body of a successful response
 * @throws {TypeError} if the URL is not http or https
 */
export function createSend(
  options: SendOptions,
  { fetch, sleep, nowMs }: SendDependencies,
  read: (response: Response, request: ApiRequest) => Promise<unknown> = readJson,
): Send {
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES, maxWaitMs = MAX_WAIT_MS, signal } = options;
  const connect = withPosition(createConnect(options.url, fetch));

  return async (request) => {
    const { method = "GET", isSafe = method === "GET" } = request;
    for (let attempt = 0; ; attempt++) {
      try {
        return await attemptOnce(request);
      } catch (error) {
        const isLast = !isSafe || attempt >= retries || !(error instanceof ApiError) || !error.isRetryable;
        const waitMs = isLast ? 0 : (error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** attempt);
        if (isLast || waitMs > maxWaitMs) throw error;
        await sleep(waitMs, signal);
      }
    }
  };

  async function attemptOnce<Body>(request: ApiRequest): Promise<Body> {
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await connect(request, signal ? AbortSignal.any([signal, timeout]) : timeout);
      if (response.ok) return (await read(response, request)) as Body;
      throw new ApiError(refusalOf(response, bodyOf(await response.text()), nowMs()), nameOf(request));
    } catch (cause) {
      if (cause instanceof ApiError) throw cause;
      signal?.throwIfAborted();
      const type = timeout.aborted
        ? ({ code: "API_TIMEOUT", timeoutMs } as const)
        : ({ code: "API_UNREACHABLE", cause } as const);
      throw new ApiError(type, nameOf(request));
    }
  }
}

async function readJson(response: Response, request: ApiRequest): Promise<object> {
  const body = bodyOf(await response.text());
  if (typeof body === "object" && body !== null) return withWarnings(body, response.headers);
  throw new ApiError(refusalOf(response, body, 0), nameOf(request));
}

/** Adds the warnings of the response, which are a JSON list in a header (webhooks.md 3). */
function withWarnings(body: object, headers: Headers): object {
  const warnings = bodyOf(headers.get("webhook-warnings") ?? "");
  return Array.isArray(warnings) ? { ...body, warnings: warnings.map(String) } : body;
}

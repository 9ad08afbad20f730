/** One request: its URL, its time-out, its retries, and what its answer means. */
import { ApiError, type ApiErrorType } from "./error.ts";

/** Absent members are not sent. */
export type Query = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

export type ApiRequest = {
  /** Default: GET. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the prefix; made with `path`, so that its parts are encoded. */
  readonly path: string;
  readonly query?: Query | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Nothing is changed by it, so it may be sent again. Default: whether the method is GET. */
  readonly isSafe?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * The body of a successful answer.
 *
 * @throws {ApiError} when there is none
 */
export type Send = <Answer>(request: ApiRequest) => Promise<Answer>;

export type SendOptions = {
  /** Base URL of the node: `http://127.0.0.1:4003`, with the path of a proxy if there is one. */
  readonly url: string;
  /** Time for each attempt, with the whole answer. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Further attempts of requests that change nothing. Default: 2. */
  readonly retries?: number;
  /** Ends whatever is under way, and every later request. */
  readonly signal?: AbortSignal;
};

export type SendDependencies = {
  readonly fetch: typeof fetch;
  readonly sleep: (timeMs: number) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
};

const TIMEOUT_MS = 10_000;
const RETRIES = 2;
/** Before the second attempt; doubled before each further one. */
const FIRST_WAIT_MS = 250;
/** A node counts requests by the minute: whoever waits that long is heard again. */
const MAX_WAIT_MS = 60_000;

/** @throws {TypeError} when the URL is none of http or https */
export function createSend(options: SendOptions, { fetch, sleep, nowMs }: SendDependencies): Send {
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES, signal } = options;
  const base = readBase(options.url);

  return async (request) => {
    const { method = "GET", isSafe = method === "GET" } = request;
    for (let attempt = 0; ; attempt++) {
      try {
        return await attemptOnce(request);
      } catch (error) {
        const isLast = !isSafe || attempt >= retries || !(error instanceof ApiError) || !error.isRetryable;
        const waitMs = isLast ? 0 : waitOf(error, attempt);
        if (isLast || waitMs > MAX_WAIT_MS) throw error;
        await sleep(waitMs);
      }
    }
  };

  async function attemptOnce<Answer>(request: ApiRequest): Promise<Answer> {
    const { method = "GET", path, query = {}, body, headers } = request;
    const name = `${method} /api${path}`;
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${base}/api${path}${queryText(query)}`, {
        method,
        headers: { accept: "application/json", ...(body !== undefined && JSON_BODY), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body, withBigInts) }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      text = await response.text();
    } catch (cause) {
      signal?.throwIfAborted();
      if (timeout.aborted) throw new ApiError({ code: "API_TIMEOUT", timeoutMs }, name);
      throw new ApiError({ code: "API_UNREACHABLE", cause }, name);
    }
    const answer = parse(text);
    const type = response.ok ? invalidAnswer(response, answer) : refusal(response, answer, nowMs());
    if (type) throw new ApiError(type, name);
    return answer as Answer;
  }
}

/** Joins parts of a path; each value becomes one segment, whatever it contains. */
export const path = (texts: TemplateStringsArray, ...values: readonly (string | number)[]): string =>
  String.raw({ raw: texts }, ...values.map((value) => encodeURIComponent(value)));

const JSON_BODY = { "content-type": "application/json" };

function readBase(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`"url" must be the base URL of a node, such as http://127.0.0.1:4003; got ${text}`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(`${value}`)}`],
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

/** The API takes numbers as text, however large they are. */
const withBigInts = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}` : value;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function invalidAnswer({ status }: Response, body: unknown): ApiErrorType | undefined {
  return typeof body === "object" && body !== null ? undefined : { code: "API_ANSWER_INVALID", status, body };
}

function refusal({ status, headers }: Response, body: unknown, nowMs: number): ApiErrorType {
  if (status === 401 || status === 403) return { code: "API_UNAUTHORIZED", status, body };
  if (status === 404) return { code: "API_NOT_FOUND", status, body };
  if (status >= 500) return { code: "API_FAILED", status, body };
  if (status !== 429) return { code: "API_REFUSED", status, body };
  const retryAfterMs = retryAfter(headers, nowMs);
  return { code: "API_RATE_LIMITED", status, body, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** `Retry-After` in seconds, or the end of the window as the old network says it (http-api.md 1.6). */
function retryAfter(headers: Headers, nowMs: number): number | undefined {
  const seconds = headers.get("retry-after");
  if (seconds !== null && /^\d{1,9}$/.test(seconds)) return Number(seconds) * 1_000;
  const resetMs = headers.get("x-ratelimit-userreset");
  if (resetMs !== null && /^\d{1,16}$/.test(resetMs)) return Math.max(0, Number(resetMs) - nowMs);
  return undefined;
}

const waitOf = ({ type }: ApiError, attempt: number): number =>
  type.code === "API_RATE_LIMITED" && type.retryAfterMs !== undefined
    ? type.retryAfterMs
    : FIRST_WAIT_MS * 2 ** attempt;

/** Failures of requests to the API, and the error for a response other than success. */

import { parseJson } from "./json.ts";
import { isBranchGone } from "./position.ts";

/** A response of the node other than success. */
type Refusal = {
  /** HTTP status. */
  readonly status: number;
  /** Parsed if it is JSON, else its text. */
  readonly body: unknown;
  /** Code from docs/reference/errors.md, such as `WEBHOOK_UNKNOWN`. Absent from nodes of the old network. */
  readonly nodeCode?: string;
};

export type ApiErrorType =
  /** There was no connection, or it broke: the node may have received the request. */
  | { readonly code: "API_UNREACHABLE"; readonly cause: unknown }
  /** The response did not arrive completely in time: the node may have received the request. */
  | { readonly code: "API_TIMEOUT"; readonly timeoutMs: number }
  /** 401 or 403: the webhook token is missing or wrong, or the address of the caller is not allowed. */
  | ({ readonly code: "API_UNAUTHORIZED" } & Refusal)
  /** 404: the object does not exist, or this node does not serve it. */
  | ({ readonly code: "API_NOT_FOUND" } & Refusal)
  /** 429: too many requests from this address. */
  | ({
      readonly code: "API_RATE_LIMITED";
      /** Time until the node accepts requests again, if the response contains it. */
      readonly retryAfterMs?: number;
    } & Refusal)
  /**
   * Any other 4xx: the request is invalid; `message` of the body names the field and the reason. Also a redirect of a request other than
   * GET: the client does not follow it. Browsers hide its status, which is 0 then.
   */
  | ({ readonly code: "API_REFUSED" } & Refusal)
  /** 5xx: the node could not respond. */
  | ({ readonly code: "API_FAILED"; readonly retryAfterMs?: number } & Refusal)
  /** Success, but not the JSON of the API: probably another server listens at this address. */
  | { readonly code: "API_RESPONSE_INVALID"; readonly status: number; readonly body: unknown };

export type ApiErrorCode = ApiErrorType["code"];

const RETRYABLE: readonly ApiErrorCode[] = [
  "API_UNREACHABLE",
  "API_TIMEOUT",
  "API_RATE_LIMITED",
  "API_FAILED",
];

export class ApiError extends Error {
  readonly code: ApiErrorCode;
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** Body of the response: parsed if it is JSON, otherwise its text. */
  readonly body?: unknown;
  /** Code from docs/reference/errors.md, such as `WEBHOOK_UNKNOWN`. Absent from nodes of the old network. */
  readonly nodeCode?: string;
  readonly type: ApiErrorType;
  /** True if the same request may succeed later. A request that changes something may have taken effect already. */
  readonly isRetryable: boolean;
  /** Time until the node accepts requests again, if the response contains it. */
  readonly retryAfterMs?: number;

  constructor(type: ApiErrorType, request: string) {
    super(`${request}: ${reasonOf(type)}`, { cause: "cause" in type ? type.cause : undefined });
    this.name = "ApiError";
    this.code = type.code;
    this.type = type;
    this.isRetryable = RETRYABLE.includes(type.code) || isOfOtherBranch(type);
    if ("status" in type) {
      this.status = type.status;
      this.body = type.body;
    }
    if ("nodeCode" in type) this.nodeCode = type.nodeCode;
    if ("retryAfterMs" in type) this.retryAfterMs = type.retryAfterMs;
  }
}

/** Returns true if the block that the client demanded was replaced; the client no longer demands it. */
const isOfOtherBranch = (type: ApiErrorType): boolean => "nodeCode" in type && isBranchGone(type.nodeCode);

function reasonOf(type: ApiErrorType): string {
  if (type.code === "API_TIMEOUT") return `no response within ${type.timeoutMs} ms`;
  if (type.code === "API_UNREACHABLE") return `no response: ${causeOf(type.cause)}`;
  const { message } = Object(type.body) as { message?: unknown };
  if (type.code === "API_RESPONSE_INVALID")
    return `the response is not from a Uniknode API (HTTP ${type.status})`;
  if (type.status < 400) return "redirected: use the new URL";
  return typeof message === "string" ? `${plain(message)} (HTTP ${type.status})` : `HTTP ${type.status}`;
}

/** Maximum number of characters of the node's text in a message; `body` has the whole text. */
const MAX_REASON = 1_000;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Bounds a text, and removes the characters that control a terminal, because messages are logged. */
function plain(text: string): string {
  const begin = text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)} ...` : text;
  return begin.replace(UNSAFE, (unsafe) => `\\u{${unsafe.codePointAt(0)?.toString(16)}}`);
}

/** fetch reports only a failure; its `cause` has the reason. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const { code = "" } = cause as { code?: unknown };
  // The message has the line of the TLS library that failed.
  if (/^(ERR_SSL_|EPROTO$)/.test(String(code))) return `no TLS connection (${code})`;
  if (cause.message === "bad port") return "fetch refuses this port";
  return cause.message || ((cause as { code?: string }).code ?? error.message);
}

/** Creates the error for a response other than success, or of another form. */
export function refusalOf({ ok, status, headers }: Response, body: unknown, nowMs: number): ApiErrorType {
  if (ok) return { code: "API_RESPONSE_INVALID", status, body };
  const nodeCode = headers.get("error-code");
  const refusal = { status, body, ...(nodeCode !== null && { nodeCode }) };
  if (status === 401 || status === 403) return { code: "API_UNAUTHORIZED", ...refusal };
  if (status === 404) return { code: "API_NOT_FOUND", ...refusal };
  if (status < 500 && status !== 429) return { code: "API_REFUSED", ...refusal };
  const retryAfterMs = retryAfter(headers, nowMs);
  const code = status === 429 ? "API_RATE_LIMITED" : "API_FAILED";
  return { code, ...refusal, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Returns the parsed JSON, or else the text itself. */
export function bodyOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Reads `Retry-After`, in seconds, or the end of the window as nodes of the old network send it (http-api.md 1.6). */
function retryAfter(headers: Headers, nowMs: number): number | undefined {
  const seconds = headers.get("retry-after");
  if (seconds !== null && /^\d{1,9}$/.test(seconds)) return Number(seconds) * 1_000;
  const resetMs = headers.get("x-ratelimit-userreset");
  if (resetMs !== null && /^\d{1,16}$/.test(resetMs)) return Math.max(0, Number(resetMs) - nowMs);
  return undefined;
}

/** Creates the error for a response other than success. */
import type { ApiErrorType } from "./error.ts";
import { parseJson } from "./json.ts";

export function refusalOf({ status, headers }: Response, body: unknown, nowMs: number): ApiErrorType {
  const nodeCode = headers.get("error-code");
  const refusal = { status, body, ...(nodeCode !== null && { nodeCode }) };
  if (status === 401 || status === 403) return { code: "API_UNAUTHORIZED", ...refusal };
  if (status === 404) return { code: "API_NOT_FOUND", ...refusal };
  if (status < 500 && status !== 429) return { code: "API_REFUSED", ...refusal };
  const retryAfterMs = retryAfter(headers, nowMs);
  const code = status === 429 ? "API_RATE_LIMITED" : "API_FAILED";
  return { code, ...refusal, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** JSON, or else the text itself. */
export function bodyOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** `Retry-After` in seconds, or the end of the window as nodes of the old network send it (http-api.md 1.6). */
function retryAfter(headers: Headers, nowMs: number): number | undefined {
  const seconds = headers.get("retry-after");
  if (seconds !== null && /^\d{1,9}$/.test(seconds)) return Number(seconds) * 1_000;
  const resetMs = headers.get("x-ratelimit-userreset");
  if (resetMs !== null && /^\d{1,16}$/.test(resetMs)) return Math.max(0, Number(resetMs) - nowMs);
  return undefined;
}

/** Handles a request and its response, as the HTTP library reports them. */
import type { Dispatcher } from "undici";

export type DeliveryResponse = {
  /** HTTP status; absent if a target without statuses acknowledged the delivery. */
  readonly status?: number;
  /** Retry-After header. */
  readonly retryAfter?: string;
  /** Beginning of the body as text, which often explains a refusal. Absent if the body is empty. */
  readonly excerpt?: string;
};

/** Maximum bytes of a body to read, in order to reuse the connection for the next delivery. */
const MAX_BODY_BYTES = 16_384;
/** Maximum bytes of a body to store. */
const MAX_EXCERPT_BYTES = 512;

/**
 * Receives the response through `handler`, and settles once. The status decides: a truncated or endless body does not
 * change the outcome.
 *
 * The library's callbacks are used directly: the promises, streams and signals of its other interface cost almost as much
 * CPU time as the request itself.
 */
export function createResponseHandler(
  resolve: (response: DeliveryResponse) => void,
  reject: (error: unknown) => void,
) {
  const parts: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  let response: DeliveryResponse | undefined;
  let controller: Dispatcher.DispatchController | undefined;
  let isEnded = false;
  let onEnded = () => {};

  /** `reason` explains why the response is incomplete. */
  function end(reason?: unknown): void {
    if (isEnded) return;
    isEnded = true;
    onEnded();
    if (response === undefined) reject(reason);
    else {
      const excerpt = Buffer.concat(parts).toString();
      resolve({ ...response, ...(excerpt !== "" && { excerpt }) });
    }
    if (reason !== undefined) controller?.abort(asError(reason));
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isEnded) started.abort(new Error("connection closed before the request was sent"));
    },
    onResponseStart(_controller, status, headers) {
      const isInterim = status < 200;
      const retryAfter = headers["retry-after"];
      if (!isInterim) response = { status, ...(typeof retryAfter === "string" && { retryAfter }) };
    },
    onResponseData(_controller, chunk) {
      const part = chunk.subarray(0, MAX_EXCERPT_BYTES - keptBytes);
      if (part.length > 0) parts.push(part);
      keptBytes += part.length;
      readBytes += chunk.length;
      if (readBytes > MAX_BODY_BYTES) end(new Error("the response is too long"));
    },
    onResponseEnd: () => end(),
    onResponseError: (_controller, error) => end(error),
  };
  return {
    handler,
    end,
    onEnded(listener: () => void) {
      onEnded = listener;
    },
  };
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/**
 * Calls one node, for the gateway over HTTP. The outcome of every attempt says whether the node may have executed the
 * call.
 */
import { Readable } from "node:stream";
import { Pool } from "undici";
import { parseExternal } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { TEXT_COMPLEXITY } from "../platform/json/lossless.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import { readBounded } from "../platform/text/foreign.ts";
import { isCallErrorCode } from "../platform/threads/call.ts";
import { type Failure, refusalReason, shown } from "./caller.ts";

export type NodeOptions = {
  /** Base URL of the node's API. */
  readonly url: string;
  /** The webhook token of the node. */
  readonly token: string;
  /** Maximum number of connections, each for one call at a time; further calls wait. */
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  /** Maximum number of bytes in a response. */
  readonly maxResponseLength: number;
  /** Returns headers that describe this process. Default: none. */
  readonly describe?: () => Readonly<Record<string, string>>;
};

export type Attempt = {
  readonly method: string;
  /** JSON text of the parameters. */
  readonly body: string;
  readonly source?: string | undefined;
  readonly timeoutMs: number;
};

export type AttemptOutcome =
  | { readonly kind: "value"; readonly value: unknown }
  /** The call was executed, and threw. */
  | { readonly kind: "error"; readonly error: Failure }
  /** `refused`: the node did not execute the call, and will not; `unknown`: it may have executed it, or may still do so. */
  | { readonly kind: "refused" | "unknown"; readonly reason: string; readonly isTimeout: boolean };

/** Additional time in which the node can report that the deadline passed; then the connection is closed. */
const GRACE_MS = 50;
const MAX_SOURCE_LENGTH = 64;

export class HttpNode {
  readonly url: string;
  readonly #options: NodeOptions;
  /** Path of the gateway at the node. */
  readonly #base: string;
  readonly #pool: Pool;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.url = options.url;
    const { origin, pathname } = new URL(options.url);
    this.#base = `${pathname.replace(/\/$/, "")}/api/internal/gateway`;
    this.#pool = new Pool(origin, {
      connections: options.maxConnections,
      pipelining: 1,
      connect: { timeout: options.connectTimeoutMs },
      // The signal of an attempt limits its time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async attempt(attempt: Attempt): Promise<AttemptOutcome> {
    const { url } = this;
    let isSent = false;
    try {
      return await this.#send(attempt, () => {
        isSent = true;
      });
    } catch (error) {
      const { name, message } = error as Error;
      const isTimeout = name === "TimeoutError";
      const withinMs = `within ${Math.floor(attempt.timeoutMs)} ms`;
      const late = isSent ? `${url} did not respond ${withinMs}` : `no connection to ${url} ${withinMs}`;
      const reason = isTimeout ? late : `cannot reach ${url}: ${shown(message)}`;
      return { kind: isSent ? "unknown" : "refused", reason, isTimeout };
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  async #send({ method, body, source, timeoutMs }: Attempt, onSend: () => void): Promise<AttemptOutcome> {
    const { url, token, maxResponseLength, describe } = this.#options;
    const query = new URLSearchParams({
      timeoutMs: `${Math.floor(timeoutMs)}`,
      ...(source !== undefined && { source: source.slice(0, MAX_SOURCE_LENGTH) }),
    });
    const response = await this.#pool.request({
      method: "POST",
      path: `${this.#base}/${method}?${query}`,
      headers: {
        ...describe?.(),
        authorization: token,
        "content-type": "application/json",
        "content-length": `${Buffer.byteLength(body)}`,
      },
      body: bodyOf(body, { endMs: performance.now() + timeoutMs, onSend }),
      signal: AbortSignal.timeout(Math.ceil(timeoutMs) + GRACE_MS),
    });
    const text = await readBounded(response.body, maxResponseLength);
    if (response.statusCode === 200) return toOutcome(url, text);
    const code = `${response.headers["error-code"] ?? ""}`;
    return toRefusal(url, { status: response.statusCode, code, text });
  }
}

type Sending = {
  /** Monotonic time after which the request is no longer sent. */
  readonly endMs: number;
  readonly onSend: () => void;
};

/** Creates the body of a request. It is read, and `onSend` is called, when a connection begins to send the request. */
const bodyOf = (text: string, { endMs, onSend }: Sending): Readable =>
  new Readable({
    read() {
      if (performance.now() >= endMs) return void this.destroy(new DOMException("late", "TimeoutError"));
      onSend();
      this.push(text);
      this.push(null);
    },
  });

const Executed = Type.Union([
  Type.Object({ value: Type.Unknown() }),
  Type.Object({
    error: Type.Object({ message: Type.String(), code: Type.Optional(Type.String()) }),
  }),
]);
const EXECUTED = formOf(Executed);

/** Reads the response to an executed call. */
function toOutcome(url: string, text: string): AttemptOutcome {
  let executed: Static<typeof Executed>;
  try {
    // The text was bounded while it was read.
    executed = parseExternal(text, EXECUTED, { maxCharacters: text.length, ...TEXT_COMPLEXITY });
  } catch {
    const reason = `${url} sent a response that is not from the gateway: ${shown(text)}; check the URL`;
    return { kind: "unknown", reason, isTimeout: false };
  }
  if ("value" in executed) return { kind: "value", value: executed.value ?? undefined };
  return toFailed(url, executed.error);
}

/** Distinguishes failures of the gateway itself, which another node may not have, from errors of the call. */
function toFailed(url: string, error: Failure): AttemptOutcome {
  const { code, message } = error;
  if (!isCallErrorCode(code)) return { kind: "error", error };
  const kind = code === "CALL_REFUSED" ? "refused" : "unknown";
  return { kind, reason: `${url} failed: ${shown(message)}`, isTimeout: code === "CALL_TIMEOUT" };
}

/** Codes of 503 responses to calls that were not executed; a proxy and the timeout of the server send other codes. */
const NOT_EXECUTED: ReadonlySet<string> = new Set(["GATEWAY_FULL", "GATEWAY_LATE", "NODE_BUSY"]);

type RefusedResponse = { readonly status: number; readonly code: string; readonly text: string };

function toRefusal(url: string, { status, code, text }: RefusedResponse): AttemptOutcome {
  const reason = refusalReason(url, status, text);
  const isRefused = (status >= 300 && status < 500) || NOT_EXECUTED.has(code);
  return { kind: isRefused ? "refused" : "unknown", reason, isTimeout: code === "GATEWAY_LATE" };
}

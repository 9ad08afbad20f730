/** Sends one delivery over HTTP. */
import { Agent, request } from "undici";
import { createGuardedConnector, type GuardOptions, type Lookup } from "./guard.ts";

export type PostOptions = GuardOptions & {
  /** For the whole exchange, the connection included. */
  readonly timeoutMs: number;
  readonly userAgent: string;
};

export const DEFAULT_POST_OPTIONS: PostOptions = {
  allowPrivateTargets: false,
  allowedNetworks: [],
  connectTimeoutMs: 3_000,
  timeoutMs: 10_000,
  userAgent: "uniknode",
};

export type DeliveryRequest = {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type DeliveryAnswer = {
  readonly status: number;
  /** Header of that name. */
  readonly retryAfter?: string;
};

/**
 * Settles when the target has answered, whatever it answered. Redirects are an answer like others: none is followed.
 *
 * @throws {Error} with a `code` when there is no answer
 */
export type Post = (request: DeliveryRequest, signal: AbortSignal) => Promise<DeliveryAnswer>;

/** Bytes of an answer that are read, to keep the connection for the next delivery; nobody looks at them. */
const MAX_ANSWER_BYTES = 16_384;

/** Targets without a delivery for so long lose their connection. */
const IDLE_MS = 10_000;

/** `close` ends the connections that are open. */
export function createPost(options: PostOptions, lookup?: Lookup): { post: Post; close(): Promise<void> } {
  const agent = new Agent({
    connect: createGuardedConnector(options, lookup),
    pipelining: 1,
    keepAliveTimeout: IDLE_MS,
  });

  const post: Post = async ({ target, headers, body }, signal) => {
    const answer = await request(target, {
      dispatcher: agent,
      method: "POST",
      headers: { ...headers, "user-agent": options.userAgent },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]),
    });
    // The verdict is in the status; a body that never ends does not change it.
    await answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => {});
    const retryAfter = answer.headers["retry-after"];
    return { status: answer.statusCode, ...(typeof retryAfter === "string" && { retryAfter }) };
  };

  return { post, close: () => agent.destroy() };
}

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
  /** The beginning of the body as text, for those who look for the reason of a refusal; absent when it is empty. */
  readonly excerpt?: string;
};

/**
 * Settles when the target has answered, whatever it answered. Redirects are an answer like others: none is followed.
 *
 * @throws {Error} with a `code` when there is no answer
 */
export type Post = (request: DeliveryRequest, signal: AbortSignal) => Promise<DeliveryAnswer>;

/** Bytes of an answer that are read, to keep the connection for the next delivery. */
const MAX_ANSWER_BYTES = 16_384;
/** Bytes of an answer that are kept. */
const MAX_EXCERPT_BYTES = 512;

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
    const excerpt = await readExcerpt(answer.body);
    const retryAfter = answer.headers["retry-after"];
    return {
      status: answer.statusCode,
      ...(typeof retryAfter === "string" && { retryAfter }),
      ...(excerpt !== "" && { excerpt }),
    };
  };

  return { post, close: () => agent.destroy() };
}

/** Reads a body as far as it is worth it. The verdict is in the status: a body that never ends does not change it. */
async function readExcerpt(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let keptBytes = 0;
  let readBytes = 0;
  try {
    for await (const chunk of body) {
      const part = chunk.subarray(0, MAX_EXCERPT_BYTES - keptBytes);
      if (part.length > 0) parts.push(part);
      keptBytes += part.length;
      readBytes += chunk.length;
      if (readBytes > MAX_ANSWER_BYTES) break;
    }
  } catch {
    // Cut off, or out of time: what came before counts.
  }
  return Buffer.concat(parts).toString();
}

/** Sends one delivery as a message of a JetStream stream (webhooks.md 7.4). */
import { CodedError } from "../../platform/coded-error.ts";
import { type Connect, createConnect } from "../connections/connect.ts";
import type { Lookup } from "../connections/names.ts";
import { type DeliveryRequest, type Post, type PostOptions, TimeoutError } from "../delivery/post.ts";
import { type NatsTarget, parseNatsTarget } from "../model/targets.ts";
import { toFailure } from "./failure.ts";
import { createPublishInOrder } from "./publish-in-order.ts";
import { openServerStream } from "./server-stream.ts";
import { SharedConnections } from "./shared-connections.ts";
import { type Acknowledgement, openStreamClient, type StreamClient } from "./stream-client.ts";

export type NatsPost = {
  readonly post: Post;
  /** Returns the number of open connections. */
  connections(): number;
  close(): Promise<void>;
};

/** Creates a sender; `close` ends its open connections. */
export function createNatsPost(options: PostOptions, lookup?: Lookup): NatsPost {
  const closing = new AbortController();
  const connections = new SharedConnections({ open: createOpen(options, closing.signal, lookup) });
  const publishInOrder = createPublishInOrder();

  const send = (request: DeliveryRequest, target: NatsTarget, client: StreamClient, signal: AbortSignal) => {
    const { id, webhook, headers, body, isStrict } = request;
    const message = { id, subject: target.subject, headers: signaturesOf(headers), body };
    if (!isStrict) return client.publish(message);
    return publishInOrder(client, { ...message, lane: `${webhook} ${request.target}` }, signal);
  };

  const post: Post = async (request, signal) => {
    const target = readTarget(request.target);
    try {
      const acknowledgement = await withTimeout(options.timeoutMs, signal, (ended) =>
        connections.use(target, (client) => {
          ended.throwIfAborted();
          return send(request, target, client, ended);
        }),
      );
      return { excerpt: excerptOf(acknowledgement) };
    } catch (error) {
      const failure = toFailure(error, target.subject);
      if (failure instanceof TimeoutError) connections.retire(target);
      throw failure;
    }
  };

  return {
    post,
    connections: () => connections.size(),
    async close() {
      closing.abort(new Error("the webhook service is closed"));
      await connections.close();
    },
  };
}

/** Creates a function that opens connections through the target guard. */
function createOpen(
  options: PostOptions,
  closing: AbortSignal,
  lookup: Lookup | undefined,
): (target: NatsTarget) => Promise<StreamClient> {
  const { timeoutMs, userAgent } = options;
  const connect: Connect = createConnect(options, lookup);
  return (target) => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]);
    const openStream = () => openServerStream(connect, target, signal);
    return openStreamClient(target, openStream, { name: userAgent, timeoutMs });
  };
}

/** @throws {CodedError} if deliveries must not go to the target */
function readTarget(text: string): NatsTarget {
  const target = parseNatsTarget(text);
  if (target) return target;
  throw new CodedError("TARGET_REFUSED", "target is not a NATS URL", { isRetryable: true });
}

/** Selects the headers of Standard Webhooks; the others belong to HTTP. */
const signaturesOf = (headers: DeliveryRequest["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("webhook-")));

/** Returns the text that the delivery log shows as the response. */
const excerptOf = ({ stream, sequence, isDuplicate }: Acknowledgement): string =>
  JSON.stringify({ stream, seq: sequence, ...(isDuplicate && { duplicate: true }) });

/** Runs the work with a signal that aborts after the timeout or with `signal`; rejects as soon as it aborts. */
async function withTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const aborted = Promise.withResolvers<never>();
  const end = () => ended.abort(signal.reason);
  const timeout = setTimeout(() => ended.abort(new TimeoutError(timeoutMs)), timeoutMs);
  ended.signal.addEventListener("abort", () => aborted.reject(ended.signal.reason), { once: true });
  signal.addEventListener("abort", end, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([work(ended.signal), aborted.promise]);
  } finally {
    clearTimeout(timeout);
    signal.removeEventListener("abort", end);
  }
}

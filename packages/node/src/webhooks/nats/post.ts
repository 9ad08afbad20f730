/**
 * Sends one delivery as a message of a JetStream stream (webhooks.md 7.4), over a connection for each server and user
 * that all webhooks share.
 */

import { CodedError } from "../../platform/coded-error.ts";
import { Connector } from "../connections/guard.ts";
import type { Lookup } from "../connections/names.ts";
import { type DeliveryRequest, type Post, type PostOptions, TimeoutError } from "../delivery/post.ts";
import { type NatsTarget, parseNatsTarget } from "../model/targets.ts";
import { toFailure } from "./failure.ts";
import { OrderedPublisher } from "./publish-in-order.ts";
import { openServerStream } from "./server-stream.ts";
import { type Acknowledgement, openStreamClient, type StreamClient } from "./stream-client.ts";

export class NatsPost {
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  readonly #connections: SharedConnections;
  readonly #ordered = new OrderedPublisher();

  constructor(options: PostOptions, lookup?: Lookup) {
    const { timeoutMs, userAgent } = options;
    this.#timeoutMs = timeoutMs;
    const connector = new Connector(options, lookup);
    this.#connections = new SharedConnections({
      // Through the guard of targets.
      open: (target) => {
        const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]);
        const openStream = () => openServerStream(connector, target, signal);
        return openStreamClient(target, openStream, { name: userAgent, timeoutMs });
      },
    });
  }

  readonly post: Post = async (request, signal) => {
    const target = readTarget(request.target);
    try {
      const acknowledgement = await withTimeout(this.#timeoutMs, signal, (ended) =>
        this.#connections.use(target, (client) => {
          ended.throwIfAborted();
          return this.#send(request, target, client, ended);
        }),
      );
      return { excerpt: excerptOf(acknowledgement) };
    } catch (error) {
      const failure = toFailure(error, target.subject);
      if (failure instanceof TimeoutError) this.#connections.retire(target);
      throw failure;
    }
  };

  #send(request: DeliveryRequest, target: NatsTarget, client: StreamClient, signal: AbortSignal) {
    const { id, webhook, headers, body, isStrict } = request;
    const message = { id, subject: target.subject, headers: signaturesOf(headers), body };
    if (!isStrict) return client.publish(message);
    return this.#ordered.publish(client, { ...message, lane: `${webhook} ${request.target}` }, signal);
  }

  connections(): number {
    return this.#connections.size();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error("the webhook service is closed"));
    await this.#connections.close();
  }
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

type SharedConnectionsDeps = {
  readonly open: (target: NatsTarget) => Promise<StreamClient>;
  readonly idleMs?: number;
  readonly maxIdle?: number;
};

type Connection = {
  readonly key: string;
  readonly client: Promise<StreamClient>;
  running: number;
  /** Closes the connection after a time without calls. */
  idle: NodeJS.Timeout | undefined;
};

/** Time without a call after which a connection is closed. */
const IDLE_MS = 10_000;
/** Maximum number of idle connections; beyond it, the connection that became idle first is closed. */
const MAX_IDLE = 32;

export class SharedConnections {
  readonly #deps: Required<SharedConnectionsDeps>;
  /** All open connections, in the order in which they became idle. */
  readonly #connections = new Set<Connection>();
  /** Connections for new calls, by server and user. */
  readonly #current = new Map<string, Connection>();

  constructor(deps: SharedConnectionsDeps) {
    this.#deps = { idleMs: IDLE_MS, maxIdle: MAX_IDLE, ...deps };
  }

  /** Runs the work with the connection to the server of a target. */
  async use<T>(target: NatsTarget, work: (client: StreamClient) => Promise<T>): Promise<T> {
    const connection = this.#connectionTo(target);
    clearTimeout(connection.idle);
    connection.idle = undefined;
    connection.running++;
    try {
      return await work(await connection.client);
    } finally {
      this.#leave(connection);
    }
  }

  /** Gives later calls a new connection; calls that are running keep theirs. */
  retire(target: NatsTarget): void {
    const connection = this.#current.get(keyOf(target));
    if (!connection) return;
    this.#current.delete(connection.key);
    if (connection.running === 0) void this.#end(connection);
  }

  size(): number {
    return this.#connections.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => this.#end(connection)));
  }

  #connectionTo(target: NatsTarget): Connection {
    const key = keyOf(target);
    const known = this.#current.get(key);
    if (known) return known;
    const connection: Connection = { key, client: this.#deps.open(target), running: 0, idle: undefined };
    this.#connections.add(connection);
    this.#current.set(key, connection);
    const forget = () => {
      this.#connections.delete(connection);
      this.#release(connection);
    };
    connection.client.then(({ closed }) => closed).then(forget, forget);
    return connection;
  }

  /** Ends a call: its connection becomes idle, or is closed if it was retired. */
  #leave(connection: Connection): void {
    const { idleMs, maxIdle } = this.#deps;
    connection.running--;
    if (connection.running > 0 || !this.#connections.delete(connection)) return;
    this.#connections.add(connection);
    if (this.#current.get(connection.key) !== connection) {
      void this.#end(connection);
      return;
    }
    connection.idle = setTimeout(() => void this.#end(connection), idleMs);
    const idle = [...this.#connections].filter((each) => each.idle !== undefined);
    const [oldest] = idle;
    if (oldest && idle.length > maxIdle) void this.#end(oldest);
  }

  /** Closes a connection that is open, or as soon as it is open; later calls get another one. */
  #end(connection: Connection): Promise<void> {
    this.#release(connection);
    return connection.client.then(
      (client) => client.close(),
      () => {},
    );
  }

  #release(connection: Connection): void {
    clearTimeout(connection.idle);
    connection.idle = undefined;
    if (this.#current.get(connection.key) === connection) this.#current.delete(connection.key);
  }
}

const keyOf = ({ isSecure, host, port, credentials }: NatsTarget): string =>
  JSON.stringify([isSecure, host, port, credentials]);

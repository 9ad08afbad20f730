/** Sends one delivery over HTTP. */
import type { Socket } from "node:net";
import { CodedError } from "../../platform/coded-error.ts";
import { type ConnectOptions, Connector, type Endpoint, PUBLIC_TARGETS } from "../connections/guard.ts";
import type { Lookup } from "../connections/names.ts";
import { type DeliveryResponse, ResponseReader } from "./response.ts";

export type PostOptions = ConnectOptions & {
  /** Timeout for connection, request and response together. */
  readonly timeoutMs: number;
  readonly userAgent: string;
};

export const DEFAULT_POST_OPTIONS: PostOptions = {
  ...PUBLIC_TARGETS,
  connectTimeoutMs: 3_000,
  timeoutMs: 10_000,
  userAgent: "uniknode",
};

export type DeliveryRequest = {
  readonly id: string;
  readonly webhook: number;
  readonly target: string;
  /** True if no other delivery of the webhook is sent at the same time. */
  readonly isStrict: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * Resolves to the response with any status; `TargetPost` chooses the implementation by the scheme. Redirects are not followed.
 *
 * @throws {Error} with a `code` if there is no response
 */
export type Post = (request: DeliveryRequest, signal: AbortSignal) => Promise<DeliveryResponse>;

/** Time without a request after which a connection is closed. */
const IDLE_MS = 10_000;
/** A connection is closed this much earlier than its target does, which would lose a request. */
const IDLE_MARGIN_MS = 1_000;
const [HTTP_PORT, HTTPS_PORT] = [80, 443];

export class HttpPost {
  readonly #options: PostOptions;
  readonly #connector: Connector;
  readonly #idle = new IdleConnections();
  readonly #aborts = new AbortListeners();
  /** Ends of the running calls. */
  readonly #calls = new Set<(reason: unknown) => void>();

  constructor(options: PostOptions, lookup?: Lookup) {
    this.#options = options;
    this.#connector = new Connector(options, lookup);
  }

  readonly post: Post = async ({ target, headers, body }, signal) => {
    const { timeoutMs, userAgent } = this.#options;
    signal.throwIfAborted();
    const url = new URL(target);
    const opening = new AbortController();
    let connection = this.#idle.take(url.origin);
    const end = (reason: unknown) => (connection ? connection.end(reason) : opening.abort(reason));
    const timeout = setTimeout(() => end(new TimeoutError(timeoutMs)), timeoutMs);
    const removeListener = this.#aborts.add(signal, () => end(signal.reason));
    this.#calls.add(end);
    try {
      connection ??= new Connection(
        await this.#connector.connect(endpointOf(url), opening.signal),
        url.origin,
        this.#idle,
      );
      opening.signal.throwIfAborted();
      return await connection.send(requestOf(url, { ...headers, "user-agent": userAgent }, body));
    } finally {
      clearTimeout(timeout);
      removeListener();
      this.#calls.delete(end);
    }
  };

  async close(): Promise<void> {
    for (const end of [...this.#calls]) end(new Error("the sender is closed"));
    this.#idle.close();
  }
}

function endpointOf({ protocol, hostname, port }: URL): Endpoint {
  const isSecure = protocol === "https:";
  const defaultPort = isSecure ? HTTPS_PORT : HTTP_PORT;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? defaultPort : Number(port), isSecure };
}

function requestOf(
  { host, pathname, search }: URL,
  headers: DeliveryRequest["headers"],
  body: string,
): string {
  let head = `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Connections without a request, by origin; the one that was used last comes last. */
class IdleConnections {
  readonly #connections = new Map<string, Connection[]>();

  take(origin: string): Connection | undefined {
    return this.#connections.get(origin)?.pop();
  }

  add(origin: string, connection: Connection): void {
    const others = this.#connections.get(origin);
    if (others) others.push(connection);
    else this.#connections.set(origin, [connection]);
  }

  remove(origin: string, connection: Connection): void {
    const others = this.#connections.get(origin) ?? [];
    const at = others.indexOf(connection);
    if (at !== -1) others.splice(at, 1);
    if (others.length === 0) this.#connections.delete(origin);
  }

  close(): void {
    for (const connections of this.#connections.values()) {
      for (const connection of [...connections]) connection.end(undefined);
    }
  }
}

/** An open connection, which carries one request at a time. */
class Connection {
  readonly #socket: Socket;
  readonly #origin: string;
  readonly #idle: IdleConnections;
  #request:
    | { readonly reader: ResponseReader; readonly settled: PromiseWithResolvers<DeliveryResponse> }
    | undefined;
  #idleMs = IDLE_MS;

  constructor(socket: Socket, origin: string, idle: IdleConnections) {
    this.#socket = socket;
    this.#origin = origin;
    this.#idle = idle;
    socket
      .setTimeout(IDLE_MS)
      .on("data", (bytes: Buffer) => this.#read(bytes))
      .on("timeout", () => {
        if (!this.#request) this.end(undefined);
      })
      .on("error", (error) => this.end(error))
      .on("end", () => this.end(disconnected()))
      .on("close", () => this.end(disconnected()));
  }

  /**
   * Resolves to the response with any status, which is enough: a truncated or endless body does not change the outcome.
   *
   * @throws {Error} with a `code` if there is no response
   */
  send(request: string): Promise<DeliveryResponse> {
    const settled = Promise.withResolvers<DeliveryResponse>();
    this.#request = { reader: new ResponseReader(), settled };
    this.#socket.write(request);
    return settled.promise;
  }

  /** Closes the connection; `reason` explains why a response is missing. */
  end(reason: unknown): void {
    this.#idle.remove(this.#origin, this);
    this.#socket.destroy();
    this.#settle(reason);
  }

  #read(bytes: Buffer): void {
    const reader = this.#request?.reader;
    try {
      // Bytes that no request has caused end the connection.
      if (reader && !reader.read(bytes)) return;
    } catch (error) {
      this.end(error);
      return;
    }
    this.#settle(undefined);
    const isFree = reader?.isReusable && this.#socket.writableLength === 0 && this.#adopt(reader.idleMs);
    if (isFree) this.#idle.add(this.#origin, this);
    else this.end(undefined);
  }

  /** Adopts the time after which the target closes the connection; returns whether it leaves time for a request. */
  #adopt(announcedMs = Number.POSITIVE_INFINITY): boolean {
    const idleMs = Math.min(IDLE_MS, announcedMs - IDLE_MARGIN_MS);
    if (idleMs > 0 && idleMs !== this.#idleMs) this.#socket.setTimeout(idleMs);
    this.#idleMs = idleMs;
    return idleMs > 0;
  }

  #settle(reason: unknown): void {
    if (!this.#request) return;
    const { reader, settled } = this.#request;
    this.#request = undefined;
    const { response } = reader;
    if (response) settled.resolve(response);
    else settled.reject(reason);
  }
}

export const disconnected = (reason = "no response had arrived") =>
  new CodedError("ECONNRESET", `the target closed the connection: ${reason}`, { isRetryable: true });

/** Listeners of signals. Many requests share the signal of the dispatcher, and a single listener of it, because each costs time. */
class AbortListeners {
  readonly #endsBySignal = new WeakMap<AbortSignal, Set<() => void>>();

  /** Calls `end` when the signal aborts, unless the returned function was called before. */
  add(signal: AbortSignal, end: () => void): () => void {
    const ends = this.#endsBySignal.get(signal) ?? new Set();
    if (!this.#endsBySignal.has(signal)) {
      this.#endsBySignal.set(signal, ends);
      signal.addEventListener("abort", () => {
        for (const end of [...ends]) end();
      });
    }
    ends.add(end);
    return () => void ends.delete(end);
  }
}

/** The target did not respond in time. The delivery log shows the code. */
export class TimeoutError extends CodedError<"TimeoutError"> {
  constructor(timeoutMs: number) {
    super("TimeoutError", `no response within ${timeoutMs} ms`, { isRetryable: true });
  }
}

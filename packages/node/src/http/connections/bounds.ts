/**
 * Bounds on open requests: the time until their response is ready, the time in which a client must read it, and the memory that
 * all of them use. One timer checks all open requests: a timer per request would cost as much as a fast response.
 */
import type { Socket } from "node:net";
import type { FastifyReply } from "fastify";
import type { Server } from "../core/app.ts";
import { HttpError } from "../core/error.ts";
import type { Connection, Connections } from "./connections.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Timeout for the responses of a route that takes longer than others. */
    responseTimeoutMs?: number;
  }
}

/** Message of every late response. */
export const LATE =
  "Service Unavailable: the response would take too long; request fewer rows, or retry in 10 s";

/** The response was not ready in time. */
export class LateError extends HttpError {
  constructor() {
    super("RESPONSE_LATE", LATE);
    this.name = "LateError";
  }
}

/** Number of checks of each request within the timeout. */
const LATE_CHECKS = 10;

/** Responds 503 to requests whose response is not ready in time (http-api.md 1.7). */
export function addDeadlines(app: Server, timeoutMs: number): void {
  /** Replies that are not sent yet, with the monotonic time of their requests. */
  const pending = new Map<FastifyReply, number>();

  function check(): boolean {
    const nowMs = performance.now();
    for (const [reply, beganMs] of pending) {
      const { responseTimeoutMs = timeoutMs } = reply.routeOptions.config;
      if (!reply.sent && nowMs - beganMs < responseTimeoutMs) continue;
      pending.delete(reply);
      // A route that sends its response itself, such as a stream, has set `sent`.
      if (!reply.sent) reply.send(new LateError());
    }
    return pending.size > 0;
  }
  const checks = new Checks(check, Math.ceil(timeoutMs / LATE_CHECKS));

  app.addHook("onRequest", (_request, reply, done) => {
    pending.set(reply, performance.now());
    checks.begin();
    done();
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    pending.delete(reply);
    done(null, payload);
  });
  app.addHook("onClose", (_app, done) => {
    checks.close();
    done();
  });
}

/** Number of checks of each connection within the timeout of slow readers. */
const SLOW_CHECKS = 3;

/**
 * Closes connections of clients that read their responses too slowly. The timeout of the runtime only closes connections without
 * any activity: one byte now and then resets it.
 *
 * @param timeoutMs time in which a client must read a response, or the next part of a file, completely
 */
export function addSlowReaders(app: Server, connections: Connections, timeoutMs: number): void {
  /** Bytes written to a connection when data was first buffered there, and the number of checks since. */
  const waiting = new WeakMap<Socket, { readonly written: number; checks: number }>();

  function check({ socket }: Connection): void {
    if (socket.writableLength === 0) return void waiting.delete(socket);
    const known = waiting.get(socket);
    // More is written only after the client has read everything.
    if (known?.written !== socket.bytesWritten) {
      waiting.set(socket, { written: socket.bytesWritten, checks: 0 });
      return;
    }
    known.checks += 1;
    if (known.checks >= SLOW_CHECKS) connections.close(socket, "slow");
  }

  const timer = setInterval(
    () => [...connections.all()].forEach(check),
    Math.ceil(timeoutMs / SLOW_CHECKS),
  ).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
}

/** Interval of the checks of memory: too short for a client to exceed the bound by much. */
const CHECK_INTERVAL_MS = 250;

type Held = { readonly connection: Connection; readonly bytes: number };

/**
 * Limits the memory of incomplete bodies and unread responses, of which timeouts allow many at the same time: beyond `maxBytes`, closes
 * connections of the client that uses the most memory, the largest first.
 */
export function addHeldBytes(app: Server, connections: Connections, maxBytes: number): void {
  function check(): boolean {
    const held = [...connections.all()].map((connection) => ({ connection, bytes: bytesOf(connection) }));
    const total = held.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total > maxBytes) closeLargest(held, total);
    return held.length > 0;
  }

  function closeLargest(held: readonly Held[], sum: number): void {
    let total = sum;
    const byClient = new Map<unknown, number>();
    for (const { connection, bytes } of held) {
      const client = clientOf(connection);
      byClient.set(client, (byClient.get(client) ?? 0) + bytes);
    }
    const ofClient = ({ connection }: Held) => byClient.get(clientOf(connection)) ?? 0;
    for (const each of held.toSorted((a, b) => ofClient(b) - ofClient(a) || b.bytes - a.bytes)) {
      connections.close(each.connection.socket, "memory");
      total -= each.bytes;
      if (total <= maxBytes) return;
    }
  }

  const checks = new Checks(check, CHECK_INTERVAL_MS);
  // A connection without a request uses no memory here.
  app.addHook("onRequest", (_request, _reply, done) => {
    checks.begin();
    done();
  });
  app.addHook("onClose", (_app, done) => {
    checks.close();
    done();
  });
}

/** Returns the client of a connection; connections of a proxy are counted separately, since their clients may differ. */
const clientOf = ({ client, socket }: Connection): unknown => client ?? socket;

function bytesOf({ socket, inFlight, readBefore }: Connection): number {
  let bytes = 0;
  for (const response of inFlight) {
    bytes += response.writableLength;
    if (!response.req.complete) bytes += socket.bytesRead - readBefore;
  }
  return bytes;
}

/** Checks at an interval that run while there is something to check, so that an idle thread is not woken. */
export class Checks {
  readonly #check: () => boolean;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param check returns true if there may be something to check after the next interval */
  constructor(check: () => boolean, intervalMs: number) {
    this.#check = check;
    this.#intervalMs = intervalMs;
  }

  /** Announces something to check: the next check runs after one interval, unless it is scheduled already. */
  begin(): void {
    this.#timer ??= setInterval(() => {
      if (!this.#check()) this.close();
    }, this.#intervalMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

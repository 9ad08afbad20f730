/**
 * Closes connections of clients that read their responses too slowly, and limits the memory that connections use: incomplete bodies and
 * unread responses. The timeout of the runtime only closes connections without any activity: one byte now and then resets it. Timeouts
 * allow many of them at the same time, so the sum of their bytes has a bound.
 */
import type { Socket } from "node:net";
import { createChecks } from "../../platform/lifecycle/checks.ts";
import type { Server } from "../core/app.ts";
import type { Connection, Connections } from "./connections.ts";

/** Number of checks of each connection within the timeout of slow readers. */
const CHECKS = 3;

/** @param timeoutMs time in which a client must read a response, or the next part of a file, completely */
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
    if (known.checks >= CHECKS) connections.close(socket, "slow");
  }

  const timer = setInterval(
    () => [...connections.all()].forEach(check),
    Math.ceil(timeoutMs / CHECKS),
  ).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
}

/** Interval of the checks of memory: too short for a client to exceed the bound by much. */
const CHECK_INTERVAL_MS = 250;

type Held = { readonly connection: Connection; readonly bytes: number };

/** Beyond `maxBytes`, closes connections of the client that uses the most memory, the largest first. */
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

  const checks = createChecks(check, CHECK_INTERVAL_MS);
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

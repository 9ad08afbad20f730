/**
 * Limits the memory that connections use: incomplete bodies and unread responses. Their timeouts allow many of them at the
 * same time, so their sum has a bound.
 */
import { createChecks } from "../../platform/lifecycle/checks.ts";
import type { Server } from "../core/app.ts";
import type { Connection, Connections } from "./connections.ts";

/** Interval of checks: too short for a client to exceed the bound by much. */
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

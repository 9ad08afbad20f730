/**
 * What connections make the node hold: bodies that have not arrived as a whole, and answers that are not taken. The time
 * for both leaves room for many of them at once; together they have so many bytes.
 */
import type { Server } from "../server/app.ts";
import type { Connection, Connections } from "./connections.ts";

/** Shorter than it takes to send, or to make, much more than is allowed. */
const LOOK_INTERVAL_MS = 250;

/** Beyond the bytes, the client that holds the most loses its connections, those that hold the most first. */
export function addHeldBytes(app: Server, connections: Connections, maxBytes: number): void {
  function look(): void {
    const held = [...connections.all()].map((connection) => ({ connection, bytes: bytesOf(connection) }));
    let total = held.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= maxBytes) return;
    const byClient = new Map<unknown, number>();
    for (const { connection, bytes } of held) {
      const client = clientOf(connection);
      byClient.set(client, (byClient.get(client) ?? 0) + bytes);
    }
    const ofClient = ({ connection }: (typeof held)[number]) => byClient.get(clientOf(connection))!;
    for (const each of held.toSorted((a, b) => ofClient(b) - ofClient(a) || b.bytes - a.bytes)) {
      connections.close(each.connection.socket, "memory");
      total -= each.bytes;
      if (total <= maxBytes) return;
    }
  }

  const timer = setInterval(look, LOOK_INTERVAL_MS).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
}

/** Each connection of a proxy may be that of another client. */
const clientOf = ({ client, socket }: Connection): unknown => client ?? socket;

function bytesOf({ socket, inFlight, readBefore }: Connection): number {
  let bytes = 0;
  for (const response of inFlight) {
    bytes += response.writableLength;
    if (!response.req.complete) bytes += socket.bytesRead - readBefore;
  }
  return bytes;
}

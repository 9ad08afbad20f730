/**
 * Closes connections of clients that read their responses too slowly. The timeout of the runtime only closes connections
 * without any activity: one byte now and then resets it.
 */
import type { Socket } from "node:net";
import type { Server } from "../core/app.ts";
import type { Connection, Connections } from "./connections.ts";

/** Number of checks of each connection within the timeout. */
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

/**
 * Clients that take what they asked for so slowly that their connection is of no use to other clients. The runtime ends
 * those that read nothing at all, and takes a byte now and then for reading.
 */
import type { Socket } from "node:net";
import type { Server } from "../server/app.ts";
import type { Connection, Connections } from "./connections.ts";

/** Each connection is looked at that often within the time. */
const LOOKS = 3;

/** @param timeoutMs in which an answer, or the next part of a file, must have been taken as a whole */
export function addSlowReaders(app: Server, connections: Connections, timeoutMs: number): void {
  /** What was written to a connection when something began to wait there, and how often it was looked at since. */
  const waiting = new WeakMap<Socket, { readonly written: number; looks: number }>();

  function look({ socket }: Connection): void {
    if (socket.writableLength === 0) return void waiting.delete(socket);
    const known = waiting.get(socket);
    // More is only written once the last of it was taken.
    if (known?.written !== socket.bytesWritten) {
      waiting.set(socket, { written: socket.bytesWritten, looks: 0 });
      return;
    }
    known.looks += 1;
    if (known.looks >= LOOKS) connections.close(socket, "slow");
  }

  const timer = setInterval(() => [...connections.all()].forEach(look), Math.ceil(timeoutMs / LOOKS)).unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
}

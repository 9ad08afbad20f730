/**
 * Clients that take what they asked for so slowly that their connection is of no use to anybody else, or that the answers
 * made for them take too much memory. The runtime ends those that read nothing at all, and takes a byte now and then for
 * reading.
 */
import type { Socket } from "node:net";
import type { Server } from "../app.ts";
import type { Connection, Connections } from "./connections.ts";

/** Each connection is looked at that often within the time. */
const LOOKS = 3;
/** Answers are measured that often: shorter than it takes to make many large ones. */
const MEASURE_INTERVAL_MS = 250;

export type SlowReaderOptions = {
  /** In which an answer, or the next part of a file, must have been taken as a whole. */
  readonly timeoutMs: number;
  /** Of answers that are not taken yet, of all connections together. */
  readonly maxUnreadBytes: number;
};

export function addSlowReaders(
  app: Server,
  connections: Connections,
  { timeoutMs, maxUnreadBytes }: SlowReaderOptions,
): void {
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

  /** Whoever has the most to take is the first to go. */
  function measure(): void {
    const unread = [...connections.all()].map(({ socket, inFlight }) => ({
      socket,
      bytes: [...inFlight].reduce((sum, { writableLength }) => sum + writableLength, 0),
    }));
    let total = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= maxUnreadBytes) return;
    for (const { socket, bytes } of unread.toSorted((a, b) => b.bytes - a.bytes)) {
      connections.close(socket, "unread");
      total -= bytes;
      if (total <= maxUnreadBytes) return;
    }
  }

  const timers = [
    setInterval(() => [...connections.all()].forEach(look), Math.ceil(timeoutMs / LOOKS)),
    setInterval(measure, MEASURE_INTERVAL_MS),
  ];
  for (const timer of timers) timer.unref();
  app.addHook("onClose", (_app, done) => {
    timers.forEach(clearInterval);
    done();
  });
}

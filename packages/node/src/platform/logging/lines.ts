/**
 * Writes lines to a file descriptor in the background, one write at a time. Failures of the descriptor (a full disk, a
 * pipe that is closed or not read) never reach the caller: lines are buffered up to a bound, further lines are dropped
 * and counted, and the write is retried.
 */
import { write } from "node:fs";

export type LinesOptions = {
  readonly fd: number;
  /** Maximum of buffered bytes. */
  readonly maxWaitingBytes?: number;
  /** Formats the line that replaces dropped lines, with their count; absent: dropped lines leave no trace. */
  readonly lostLine?: (count: number) => string;
};

export type Lines = {
  /** @param line with its line feed */
  write(line: string): void;
  /** Number of lines dropped since the thread started. */
  lost(): number;
  /** Resolves when everything is written, or after the timeout. */
  flushed(timeoutMs: number): Promise<void>;
};

const MAX_WAITING_BYTES = 1_048_576;
/** Lines are joined to writes of up to this size: a pipe accepts such a write completely or not at all. */
const WRITE_BYTES = 4_096;
/** Pauses before a write is retried: to a full pipe, and after any other failure. */
const FULL_PAUSE_MS = 20;
const FAILURE_PAUSE_MS = 500;

export function createLines({ fd, maxWaitingBytes = MAX_WAITING_BYTES, lostLine }: LinesOptions): Lines {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  /** Bytes of the current write that are not written yet. */
  let rest: Uint8Array = Buffer.alloc(0);
  let isBusy = false;
  let lost = 0;
  /** Lost lines that are not reported in the output yet. */
  let unreported = 0;
  const idle = new Set<() => void>();

  function add(line: string): void {
    const bytes = Buffer.from(line);
    waiting.push(bytes);
    waitingBytes += bytes.length;
  }

  function reportLost(): void {
    if (unreported > 0 && lostLine) add(lostLine(unreported));
    unreported = 0;
  }

  function takeLines(): Buffer {
    let [count, bytes] = [0, 0];
    for (const line of waiting) {
      if (count > 0 && bytes + line.length > WRITE_BYTES) break;
      count++;
      bytes += line.length;
    }
    waitingBytes -= bytes;
    return Buffer.concat(waiting.splice(0, count));
  }

  function next(): void {
    if (rest.length === 0) {
      if (waiting.length === 0) reportLost();
      rest = takeLines();
    }
    isBusy = rest.length > 0;
    if (isBusy) write(fd, rest, 0, rest.length, null, onWritten);
    else for (const resolve of idle) resolve();
  }

  function onWritten(error: NodeJS.ErrnoException | null, bytes: number): void {
    if (error) {
      const pauseMs = error.code === "EAGAIN" ? FULL_PAUSE_MS : FAILURE_PAUSE_MS;
      // The timer must not keep the process alive.
      setTimeout(next, pauseMs).unref();
      return;
    }
    rest = rest.subarray(bytes);
    next();
  }

  return {
    write(line) {
      if (waitingBytes + Buffer.byteLength(line) > maxWaitingBytes) {
        lost++;
        unreported++;
        return;
      }
      reportLost();
      add(line);
      if (!isBusy) next();
    },
    lost: () => lost,
    async flushed(timeoutMs) {
      if (!isBusy) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      idle.add(resolve);
      const timer = setTimeout(resolve, timeoutMs);
      await promise;
      clearTimeout(timer);
      idle.delete(resolve);
    },
  };
}

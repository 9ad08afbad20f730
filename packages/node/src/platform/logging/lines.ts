/**
 * Lines for a file descriptor, written in the background, one write at a time. Nothing that happens to the descriptor
 * reaches the writer of a line: while it cannot be written (a full disk, a pipe that is not read or is closed), lines wait
 * within a bound, those beyond it are dropped and counted, and writing is tried again.
 */
import { write } from "node:fs";

export type LinesOptions = {
  readonly fd: number;
  /** Bytes of the lines that wait at most. */
  readonly maxWaitingBytes?: number;
  /** A line that says how many lines were dropped, put in their place; absent: nothing says so. */
  readonly lostLine?: (count: number) => string;
};

export type Lines = {
  /** @param line with the end of the line */
  write(line: string): void;
  /** Lines dropped since the thread started. */
  lost(): number;
  /** Settles when everything is written, or the time is over. */
  flushed(timeoutMs: number): Promise<void>;
};

const MAX_WAITING_BYTES = 1_048_576;
/** Whole lines up to this size go into one write: a pipe takes such a write wholly or not at all. */
const WRITE_BYTES = 4_096;
/** Pause before a write is tried again: to a pipe whose reader is slow, and after any other failure. */
const FULL_PAUSE_MS = 20;
const FAILURE_PAUSE_MS = 500;

export function createLines({ fd, maxWaitingBytes = MAX_WAITING_BYTES, lostLine }: LinesOptions): Lines {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  /** Of a write that went only half way, or is under way. */
  let rest: Uint8Array = Buffer.alloc(0);
  let isBusy = false;
  let lost = 0;
  /** Lost lines that were not reported yet. */
  let untold = 0;
  const idle = new Set<() => void>();

  function add(line: string): void {
    const bytes = Buffer.from(line);
    waiting.push(bytes);
    waitingBytes += bytes.length;
  }

  function tellOfLost(): void {
    if (untold > 0 && lostLine) add(lostLine(untold));
    untold = 0;
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
      if (waiting.length === 0) tellOfLost();
      rest = takeLines();
    }
    isBusy = rest.length > 0;
    if (isBusy) write(fd, rest, 0, rest.length, null, onWritten);
    else for (const resolve of idle) resolve();
  }

  function onWritten(error: NodeJS.ErrnoException | null, bytes: number): void {
    if (error) {
      const pauseMs = error.code === "EAGAIN" ? FULL_PAUSE_MS : FAILURE_PAUSE_MS;
      // A process that has nothing else to do ends without these lines.
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
        untold++;
        return;
      }
      tellOfLost();
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

/**
 * Standard output of a server process: lines that are written in the background, permanent lines above one line that is rewritten on a
 * terminal, and the capabilities of terminals.
 */

import { write } from "node:fs";
import { isatty } from "node:tty";

export const STANDARD_OUTPUT = 1;
export const STANDARD_ERROR = 2;

/** Clears the line of the cursor, so that the next output begins on an empty line. */
export const CLEAR_LINE = "\r\u001B[K";

/** Returns true if the file descriptor is a terminal that can move the cursor to the beginning of a line. */
export const canRewriteLines = (fd: number): boolean => isatty(fd) && process.env.TERM !== "dumb";

/** Returns true if texts to this file descriptor may have colours (https://no-color.org). */
export const hasColors = (fd: number): boolean => canRewriteLines(fd) && !process.env.NO_COLOR;

/**
 * Opens the standard output so that it never blocks or ends the process, even when it is full, closed or not read. Call
 * it in the main thread before anything is written.
 */
export function openOutput(): Lines {
  // Opening these streams makes pipes and sockets non-blocking. A blocking write would stop the thread, and even the
  // end of the process, until the pipe is read.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return new Lines({ fd: STANDARD_OUTPUT });
}

const COLUMNS = 80;

/** Window of a terminal; the width in characters can be unknown. */
type Window = { readonly columns: number | undefined; on(event: "resize", listener: () => void): unknown };

/** Permanent lines above a status, which is one line, cut to the width of the window. */
export class StatusLine {
  readonly #lines: Pick<Lines, "write">;
  readonly #window: Window | undefined;
  #status = "";
  #isEnded = false;

  /** @param window absent if the output is not a terminal: every line is then permanent */
  constructor(lines: Pick<Lines, "write">, window: Window | undefined) {
    this.#lines = lines;
    this.#window = window;
    window?.on("resize", () => {
      if (this.#status !== "") this.#draw(this.#status);
    });
  }

  /** Writes permanent lines. */
  print(text: string): void {
    this.#lines.write(`${this.#status === "" ? "" : CLEAR_LINE}${text}\n${this.#shown()}`);
  }

  /** Rewrites the status. */
  status(text: string): void {
    if (this.#isEnded || !this.#window) this.print(text);
    else this.#draw(text);
  }

  /** Removes the status; all later lines are permanent. */
  end(): void {
    if (this.#status !== "") this.#lines.write(CLEAR_LINE);
    this.#status = "";
    this.#isEnded = true;
  }

  #draw(status: string): void {
    this.#status = status;
    this.#lines.write(`${CLEAR_LINE}${this.#shown()}`);
  }

  /** A full last column would make the next character begin another line. */
  #shown(): string {
    return this.#status.slice(0, Math.max(0, (this.#window?.columns || COLUMNS) - 1));
  }
}

type LinesOptions = {
  readonly fd: number;
  /** Maximum of buffered bytes. */
  readonly maxWaitingBytes?: number;
  /** Formats the line that replaces dropped lines, with their count; absent: dropped lines leave no trace. */
  readonly lostLine?: (count: number) => string;
};

const MAX_WAITING_BYTES = 1_048_576;
/** Lines are joined to writes of up to this size: a pipe accepts such a write completely or not at all. */
const WRITE_BYTES = 4_096;
/** Pauses before a write is retried: to a full pipe, and after any other failure. */
const FULL_PAUSE_MS = 20;
const FAILURE_PAUSE_MS = 500;

/**
 * Writes lines to a file descriptor in the background, one write at a time. Failures of the descriptor (a full disk, a
 * pipe that is closed or not read) never reach the caller: lines are buffered up to a bound, further lines are dropped
 * and counted, and the write is retried.
 */
export class Lines {
  readonly #fd: number;
  readonly #maxWaitingBytes: number;
  readonly #lostLine: LinesOptions["lostLine"];
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Bytes of the current write that are not written yet. */
  #rest: Uint8Array = Buffer.alloc(0);
  #isBusy = false;
  #lost = 0;
  /** Number of lost lines that are not reported in the output yet. */
  #unreported = 0;
  readonly #idle = new Set<() => void>();

  constructor({ fd, maxWaitingBytes = MAX_WAITING_BYTES, lostLine }: LinesOptions) {
    this.#fd = fd;
    this.#maxWaitingBytes = maxWaitingBytes;
    this.#lostLine = lostLine;
  }

  /** Returns the number of lines dropped since the thread started. */
  lost(): number {
    return this.#lost;
  }

  /** @param line with its line feed */
  write(line: string): void {
    if (this.#waitingBytes + Buffer.byteLength(line) > this.#maxWaitingBytes) {
      this.#lost++;
      this.#unreported++;
      return;
    }
    this.#reportLost();
    this.#add(line);
    if (!this.#isBusy) this.#writeNext();
  }

  /** Resolves when everything is written, or after the timeout. */
  async flushed(timeoutMs: number): Promise<void> {
    if (!this.#isBusy) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle.add(resolve);
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
    this.#idle.delete(resolve);
  }

  #add(line: string): void {
    const bytes = Buffer.from(line);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #reportLost(): void {
    if (this.#unreported > 0 && this.#lostLine) this.#add(this.#lostLine(this.#unreported));
    this.#unreported = 0;
  }

  /** Removes as many waiting lines as fit into one write, at least one. */
  #takeLines(): Buffer {
    let [count, bytes] = [0, 0];
    for (const line of this.#waiting) {
      if (count > 0 && bytes + line.length > WRITE_BYTES) break;
      count++;
      bytes += line.length;
    }
    this.#waitingBytes -= bytes;
    return Buffer.concat(this.#waiting.splice(0, count));
  }

  #writeNext(): void {
    if (this.#rest.length === 0) {
      if (this.#waiting.length === 0) this.#reportLost();
      this.#rest = this.#takeLines();
    }
    const { length } = this.#rest;
    this.#isBusy = length > 0;
    if (this.#isBusy) {
      write(this.#fd, this.#rest, 0, length, null, (error, bytes) => this.#written(error, bytes));
    } else for (const resolve of this.#idle) resolve();
  }

  #written(error: NodeJS.ErrnoException | null, bytes: number): void {
    if (error) {
      const pauseMs = error.code === "EAGAIN" ? FULL_PAUSE_MS : FAILURE_PAUSE_MS;
      // The timer must not keep the process alive.
      setTimeout(() => this.#writeNext(), pauseMs).unref();
      return;
    }
    this.#rest = this.#rest.subarray(bytes);
    this.#writeNext();
  }
}

/**
 * Standard output of a server process: permanent lines above one line that is rewritten on a terminal, and the capabilities of
 * terminals.
 */
import { isatty } from "node:tty";
import { Lines } from "./lines.ts";

export const STANDARD_OUTPUT = 1;
export const STANDARD_ERROR = 2;

/** Clears the line of the cursor, so that the next output begins on an empty line. */
export const CLEAR_LINE = "\r\u001B[K";

/** Returns true if the file descriptor is a terminal that can move the cursor to the beginning of a line. */
export const canRewriteLines = (fd: number): boolean => isatty(fd) && process.env.TERM !== "dumb";

/** Returns true if texts to this file descriptor may have colours (https://no-color.org). */
export const hasColors = (fd: number): boolean => canRewriteLines(fd) && !process.env.NO_COLOR;

export type StatusLine = {
  /** Writes permanent lines. */
  print(text: string): void;
  /** Rewrites the status: one line, cut to the width of the window. */
  status(text: string): void;
  /** Removes the status; all later lines are permanent. */
  end(): void;
};

/** Window of a terminal. */
type Window = {
  /** Returns the width in characters; undefined if unknown. */
  columns(): number | undefined;
  /** The listener is called when the size of the window changed. */
  onResize(listener: () => void): void;
};

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

/** Opens the output like `openOutput`, with a status line if a terminal shows it. */
export function openScreen(): StatusLine & Pick<Lines, "flushed"> {
  const lines = openOutput();
  const { stdout } = process;
  const window = canRewriteLines(STANDARD_OUTPUT)
    ? {
        columns: () => stdout.columns,
        onResize: (listener: () => void) => void stdout.on("resize", listener),
      }
    : undefined;
  return { ...createStatusLine(lines, window), flushed: (timeoutMs) => lines.flushed(timeoutMs) };
}

const COLUMNS = 80;

/** @param window absent if the output is not a terminal: every line is then permanent */
export function createStatusLine(lines: Pick<Lines, "write">, window: Window | undefined): StatusLine {
  const write = (text: string) => lines.write(`${text}\n`);
  if (!window) return { print: write, status: write, end() {} };

  let status = "";
  let isEnded = false;
  // A full last column would make the next character begin another line.
  const cut = () => status.slice(0, Math.max(0, (window.columns() || COLUMNS) - 1));
  const draw = () => lines.write(`${CLEAR_LINE}${cut()}`);
  window.onResize(() => {
    if (status !== "") draw();
  });
  return {
    print: (text) => lines.write(`${status === "" ? "" : CLEAR_LINE}${text}\n${cut()}`),
    status(text) {
      if (isEnded) return write(text);
      status = text;
      draw();
    },
    end() {
      if (status !== "") lines.write(CLEAR_LINE);
      status = "";
      isEnded = true;
    },
  };
}

/**
 * Prints permanent lines above one line that is rewritten on a terminal; without a terminal, every line is
 * permanent.
 */
import type { Lines } from "./lines.ts";
import { CLEAR_LINE } from "./terminal.ts";

export type StatusLine = {
  /** Writes permanent lines. */
  print(text: string): void;
  /** Rewrites the status: one line, cut to the width of the window. */
  status(text: string): void;
  /** Removes the status; all later lines are permanent. */
  end(): void;
};

/** The window of a terminal. */
export type Window = {
  /** Returns the width in characters; undefined if unknown. */
  columns(): number | undefined;
  /** The listener is called when the size of the window changed. */
  onResize(listener: () => void): void;
};

const COLUMNS = 80;

/** @param window absent if the output is not a terminal */
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

/** The standard output of a server process. */
import { createLines, type Lines } from "./lines.ts";
import { createStatusLine, type StatusLine } from "./status-line.ts";
import { canRewriteLines, STANDARD_OUTPUT } from "./terminal.ts";

/**
 * Opens the standard output so that it never blocks or ends the process, even when it is full, closed or not read. Call
 * it in the main thread before anything is written.
 */
export function openOutput(): Lines {
  // Opening these streams makes pipes and sockets non-blocking. A blocking write would stop the thread, and even the
  // end of the process, until the pipe is read.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return createLines({ fd: STANDARD_OUTPUT });
}

/** Like `openOutput`, with a status line if a terminal shows the output. */
export function openScreen(): StatusLine & Pick<Lines, "flushed"> {
  const lines = openOutput();
  const { stdout } = process;
  const window = canRewriteLines(STANDARD_OUTPUT)
    ? {
        columns: () => stdout.columns,
        onResize: (listener: () => void) => void stdout.on("resize", listener),
      }
    : undefined;
  return { ...createStatusLine(lines, window), flushed: lines.flushed };
}

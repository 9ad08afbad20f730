/** The standard output of a process that serves. */
import { createLines, type Lines } from "./lines.ts";

const STANDARD_OUTPUT = 1;

/**
 * The standard output, which neither holds up the process nor ends it, full, unread or closed as it may be. To be called
 * in the main thread before anything is written.
 */
export function openOutput(): Lines {
  // Opening these makes pipes and sockets refuse what they cannot take at once. Otherwise they keep the writing thread
  // until it is read, and the process cannot even end.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return createLines({ fd: STANDARD_OUTPUT });
}

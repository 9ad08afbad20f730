/** Capabilities of the terminal of a file descriptor. */
import { isatty } from "node:tty";

export const STANDARD_OUTPUT = 1;
export const STANDARD_ERROR = 2;

/** Clears the line of the cursor, so that the next output begins on an empty line. */
export const CLEAR_LINE = "\r\u001B[K";

/** Returns true if the file descriptor is a terminal that can move the cursor to the beginning of a line. */
export const canRewriteLines = (fd: number): boolean => isatty(fd) && process.env.TERM !== "dumb";

/** Returns true if texts to this file descriptor may have colours (https://no-color.org). */
export const hasColors = (fd: number): boolean => canRewriteLines(fd) && !process.env.NO_COLOR;

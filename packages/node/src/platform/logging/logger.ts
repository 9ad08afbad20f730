/** Writes log lines to the standard error stream: a constant message with fields, as JSON or as readable text. */
import { isatty } from "node:tty";
import { type LogFn, type Logger, type LoggerOptions, pino } from "pino";
import { setNewest } from "../bounded-entries.ts";
import { troubleOf } from "../files/disk.ts";
import { shortened } from "../text/foreign.ts";
import { createLines, type Lines } from "./lines.ts";
import { boundedLine, textLine } from "./log-line.ts";
import { canRewriteLines, hasColors, STANDARD_ERROR, STANDARD_OUTPUT } from "./terminal.ts";

export type LogLevel = "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** The logger of a thread, and the state of its output. */
export type Log = Pick<Lines, "lost" | "flushed"> & { readonly logger: Logger };

/** `auto`: text if a terminal displays the log, otherwise JSON. */
export type LogFormat = "auto" | "text" | "json";

/** Logging never blocks and never throws, even when standard error fails: see `createLines`. */
export function openLog(level: LogLevel, format: LogFormat, fd: number = STANDARD_ERROR): Log {
  const shown = formatted(format, fd);
  const lines = createLines({
    fd,
    ...(level !== "silent" && { lostLine: (count) => shown(lostLine(count)) }),
  });
  const logger = createLogger(level, { write: (line) => lines.write(shown(line)) });
  return { logger, lost: lines.lost, flushed: lines.flushed };
}

function formatted(format: LogFormat, fd: number): (line: string) => string {
  const isText = format === "auto" ? isatty(fd) : format === "text";
  if (!isText) return (line) => line;
  const clearsLine = canRewriteLines(fd) && canRewriteLines(STANDARD_OUTPUT);
  const style = { hasColors: hasColors(fd), clearsLine };
  return (line) => textLine(line, style);
}

/** @param to receives each line, with its line feed */
export function createLogger(level: LogLevel, to: { write(line: string): void }): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    formatters: { level: (label) => ({ level: label }) },
    hooks: { logMethod: dropRepeats() },
  };
  return pino(options, { write: (line: string) => to.write(boundedLine(line)) });
}

const lostLine = (lines: number) =>
  `${JSON.stringify({ level: "warn", time: Date.now(), lines, msg: "log lines were lost" })}\n`;

/** Maximum length of a remembered cause. */
const MAX_CAUSE = 500;

/** Number of the level in pino. */
const ERROR = 50;

/**
 * Drops errors that repeat a recent text: a lasting failure would fill the disk of the log. Errors of a disk
 * that refuses writes are details: a separate line reports its state (`loggedTrouble`).
 */
function dropRepeats() {
  const repeats = createRepeats(() => performance.now());
  return function logMethod(this: Logger, parameters: Parameters<LogFn>, log: LogFn, level: number): void {
    const [fields, message] = parameters as unknown as [unknown, unknown];
    const { err: error } = Object(fields) as { err?: unknown };
    if (level < ERROR || !(error instanceof Error)) {
      log.apply(this, parameters);
      return;
    }
    if (level === ERROR && troubleOf(error)) {
      this.debug({ ...(fields as object), err: undefined, error: error.message }, String(message));
      return;
    }
    const leftOut = repeats.note(shortened(`${String(message)} ${error.message}`, MAX_CAUSE));
    if (leftOut === undefined) return;
    const shown = leftOut === 0 ? fields : { ...(fields as object), leftOut };
    log.apply(this, [shown, message] as unknown as Parameters<LogFn>);
  };
}

/** Repeated errors: one log line per minute and cause, with the number of repetitions. */
type Repeats = {
  /**
   * Registers an error that is about to be logged.
   *
   * @returns number of repetitions dropped since it was last logged; undefined: drop this one too
   */
  note(cause: string): number | undefined;
};

const QUIET_MS = 60_000;
/** Maximum of remembered causes; a new one replaces the oldest. */
const MAX_CAUSES = 100;

export function createRepeats(nowMs: () => number): Repeats {
  const known = new Map<string, { readonly loggedMs: number; leftOut: number }>();
  return {
    note(cause) {
      const before = known.get(cause);
      if (before && nowMs() - before.loggedMs < QUIET_MS) {
        before.leftOut++;
        return undefined;
      }
      setNewest(known, cause, { loggedMs: nowMs(), leftOut: 0 }, MAX_CAUSES);
      return before?.leftOut ?? 0;
    },
  };
}

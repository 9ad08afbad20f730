/**
 * Writes log lines to the standard error stream: a constant message with fields, as JSON or as readable text. Lines are bounded
 * and escaped, so that external input can neither fill the log nor change how it is displayed.
 */
import { isatty } from "node:tty";
import { type LogFn, type Logger, type LoggerOptions, pino } from "pino";
import { setNewest } from "../bounded-entries.ts";
import { troubleOf } from "../files/disk.ts";
import { shortened, withoutControls } from "../text/foreign.ts";
import { CLEAR_LINE, canRewriteLines, hasColors, Lines, STANDARD_ERROR, STANDARD_OUTPUT } from "./output.ts";

type LogLevel = "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** The logger of a thread, and the state of its output. */
export type Log = Pick<Lines, "lost" | "flushed"> & { readonly logger: Logger };

/** `auto`: text if a terminal displays the log, otherwise JSON. */
export type LogFormat = "auto" | "text" | "json";

/** Logging never blocks and never throws, even when standard error fails: see `Lines`. */
export function openLog(level: LogLevel, format: LogFormat, fd: number = STANDARD_ERROR): Log {
  const shown = formatted(format, fd);
  const lines = new Lines({
    fd,
    ...(level !== "silent" && { lostLine: (count) => shown(lostLine(count)) }),
  });
  const logger = createLogger(level, { write: (line) => lines.write(shown(line)) });
  return { logger, lost: () => lines.lost(), flushed: (timeoutMs) => lines.flushed(timeoutMs) };
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
  const repeats = new Repeats(() => performance.now());
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

const QUIET_MS = 60_000;
/** Maximum of remembered causes; a new one replaces the oldest. */
const MAX_CAUSES = 100;

/** Limits repeated errors to one log line per minute and cause, with the number of repetitions. */
export class Repeats {
  readonly #nowMs: () => number;
  readonly #known = new Map<string, { readonly loggedMs: number; leftOut: number }>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Registers an error that is about to be logged. Returns the number of repetitions dropped since it was last logged, or undefined if
   * this one must be dropped too.
   */
  note(cause: string): number | undefined {
    const nowMs = this.#nowMs();
    const before = this.#known.get(cause);
    if (before && nowMs - before.loggedMs < QUIET_MS) {
      before.leftOut++;
      return undefined;
    }
    setNewest(this.#known, cause, { loggedMs: nowMs, leftOut: 0 }, MAX_CAUSES);
    return before?.leftOut ?? 0;
  }
}

type TextStyle = {
  readonly hasColors: boolean;
  /** True if the line may meet a status line, which it then replaces. */
  readonly clearsLine: boolean;
};

const RED = 31;
const YELLOW = 33;
const DIM = 2;
const COLORS: Readonly<Record<string, number>> = {
  fatal: RED,
  error: RED,
  warn: YELLOW,
  debug: DIM,
  trace: DIM,
};
const LEVEL_WIDTH = 5;

type SerializedError = { readonly message?: unknown; readonly code?: unknown; readonly stack?: unknown };

/**
 * Formats a log line as text: time of day (UTC), level, message and fields. An error without a code is a bug in uniknode:
 * its stack follows, indented.
 *
 * @param line JSON of the logger, with its line feed
 */
export function textLine(line: string, { hasColors, clearsLine }: TextStyle): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const color = hasColors ? COLORS[String(level)] : undefined;
  const shownLevel = String(level).padEnd(LEVEL_WIDTH);
  const parts = [
    new Date(Number(time)).toISOString().slice(11, 19),
    color === undefined ? shownLevel : `\u001B[${color}m${shownLevel}\u001B[0m`,
    withoutControls(String(msg ?? "")),
    ...Object.entries(fields).map(([name, value]) => `${withoutControls(name)}=${shownValue(value)}`),
  ];
  const { text, stack } = shownError(err as SerializedError | undefined);
  return `${clearsLine ? CLEAR_LINE : ""}${parts.join("  ")}${text}\n${stack}`;
}

const shownValue = (value: unknown): string =>
  withoutControls(
    typeof value === "string" && /^[^\s"]+$/.test(value) ? value : (JSON.stringify(value) ?? ""),
  );

function shownError(error: SerializedError | undefined): { text: string; stack: string } {
  if (error === undefined) return { text: "", stack: "" };
  const text = `  ${withoutControls(String(error.message ?? ""))}`;
  if (error.code !== undefined)
    return { text: `${text} (${withoutControls(String(error.code))})`, stack: "" };
  const calls = String(error.stack ?? "")
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
  return { text, stack: calls.map((call) => `    ${withoutControls(call.trim())}\n`).join("") };
}

/** Maximum number of characters of a message, an error or a stack; twice as many if they are escaped. */
const MAX_TEXT = 2_000;
/** Maximum number of characters of all values of a line; members and items beyond it are counted instead. */
const MAX_VALUES = 16_384;

/**
 * Bounds a log line.
 *
 * @param line JSON of the logger, with its line feed
 */
export function boundedLine(line: string): string {
  const text = withoutControls(line.trimEnd());
  if (text.length <= MAX_TEXT) return `${text}\n`;
  return `${jsonOf(boundedValues(JSON.parse(text)))}\n`;
}

/** Cuts the values of a line, in order, once earlier values have used up the characters. */
function boundedValues(line: unknown): unknown {
  let left = MAX_VALUES;

  function bounded(value: unknown): unknown {
    if (typeof value === "string") {
      const text = fitting(value, Math.min(MAX_TEXT, Math.max(left, 0)));
      left -= jsonOf(text).length;
      return text;
    }
    if (Array.isArray(value)) return boundedItems(value);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(boundedMembers(Object.entries(withShortStack(value))));
  }

  function boundedItems(items: readonly unknown[]): unknown[] {
    const kept: unknown[] = [];
    for (const item of items) {
      if (left <= 0) return [...kept, `${items.length - kept.length} more`];
      left -= ITEM;
      kept.push(bounded(item));
    }
    return kept;
  }

  function boundedMembers(members: readonly (readonly [string, unknown])[]): [string, unknown][] {
    const kept: [string, unknown][] = [];
    for (const [name, value] of members) {
      if (left <= 0) return [...kept, ["more", members.length - kept.length]];
      const key = fitting(name, MAX_NAME);
      left -= jsonOf(key).length + ITEM;
      kept.push([key, bounded(value)]);
    }
    return kept;
  }

  return bounded(line);
}

const jsonOf = (value: unknown): string => withoutControls(JSON.stringify(value));

/** Shortens a text so that its escaped form has at most twice `max` characters. */
function fitting(text: string, max: number): string {
  const short = shortened(text, max);
  return jsonOf(short).length <= 2 * max ? short : shortened(text, Math.floor(max / MAX_ESCAPE));
}

/** Maximum number of characters that escape one character. */
const MAX_ESCAPE = 6;

/** Shortens the message at the beginning of a stack, so that it does not displace the calls. */
function withShortStack(value: object): object {
  const { message, stack } = value as { message?: unknown; stack?: unknown };
  if (typeof message !== "string" || typeof stack !== "string") return value;
  return { ...value, stack: stack.split(message).join(shortened(message, MAX_NAME)) };
}

/** Allowance for numbers and punctuation. */
const ITEM = 4;
const MAX_NAME = 100;

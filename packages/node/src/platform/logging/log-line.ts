/** Log lines: as readable text, and bounded, so that external input can neither fill the log nor change how it is displayed. */
import { shortened, withoutControls } from "../text/foreign.ts";
import { CLEAR_LINE } from "./terminal.ts";

export type TextStyle = {
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
 * A log line as text: time of day (UTC), level, message and fields. An error without a code is a bug in uniknode:
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

/** Maximum number of characters of one text: a message, an error, a stack. Twice as many if they are escaped. */
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
  return `${jsonOf(boundedBy(MAX_VALUES)(JSON.parse(text)))}\n`;
}

/** Cuts values, in order, once those before them have used up the characters. */
function boundedBy(characters: number): (value: unknown) => unknown {
  let left = characters;

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

  return bounded;
}

const jsonOf = (value: unknown): string => withoutControls(JSON.stringify(value));

/** Shortens a text so that its escaped form has at most twice `max` characters. */
function fitting(text: string, max: number): string {
  const short = shortened(text, max);
  return jsonOf(short).length <= 2 * max ? short : shortened(text, Math.floor(max / MAX_ESCAPE));
}

/** Maximum number of characters for an escaped one. */
const MAX_ESCAPE = 6;

/** The stack of an error begins with its message, which must not displace the calls. */
function withShortStack(value: object): object {
  const { message, stack } = value as { message?: unknown; stack?: unknown };
  if (typeof message !== "string" || typeof stack !== "string") return value;
  return { ...value, stack: stack.split(message).join(shortened(message, MAX_NAME)) };
}

/** Allowance for numbers and punctuation. */
const ITEM = 4;
const MAX_NAME = 100;

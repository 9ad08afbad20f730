/** Formats log lines as readable text. */
import { withoutControls } from "../text/foreign.ts";
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

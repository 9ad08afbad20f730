/** Standard output of commands. Commands print foreign text only with these functions, which escape it. */
import { jsonText } from "@uniknode/client";
import { linesWithoutControls, shortened, withoutControls } from "../platform/text/foreign.ts";

/** Maximum of characters of a line; `--json` prints complete values. */
const MAX_LINE = 10_000;

/** Prints each text as one line. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${shortened(withoutControls(line), MAX_LINE)}\n`).join(""));
}

/** Prints a value as one line of JSON; supports `bigint`. */
export function printJson(value: unknown): void {
  process.stdout.write(`${withoutControls(jsonText(value))}\n`);
}

/** Prints text of several lines, with control characters escaped. */
export function printText(text: string): void {
  process.stdout.write(`${linesWithoutControls(text)}\n`);
}

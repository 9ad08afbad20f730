/** The standard output of commands: the only way in which text that may come from others reaches the terminal. */
import { jsonText } from "@uniknode/client";
import { linesWithoutControls, shortened, withoutControls } from "../platform/text/foreign.ts";

/** Characters of a line; `--json` prints all of a value. */
const MAX_LINE = 10_000;

/** Prints each as one line. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${shortened(withoutControls(line), MAX_LINE)}\n`).join(""));
}

/** Prints a value, in which there may be a `bigint`, as one line of JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${withoutControls(jsonText(value))}\n`);
}

/** Prints a text of this program as it is, except for what a terminal would obey. */
export function printText(text: string): void {
  process.stdout.write(`${linesWithoutControls(text)}\n`);
}

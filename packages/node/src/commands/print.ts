/**
 * Standard output of commands: lines, JSON, and tables that fit the terminal. Commands print foreign text only with these
 * functions, which escape it.
 */
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

const GAP = 2;
/** Minimum width of a column after cutting. */
const MIN_WIDTH = 8;

/**
 * Formats a table, headings first. Cuts the widest columns if the table is wider than the terminal.
 *
 * @param width in characters; undefined if stdout is not a terminal, 0 if its width is unknown: nothing is cut
 */
export function columns(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width: number | undefined = process.stdout.columns,
): string[] {
  const lines = [headings, ...rows];
  const widths = headings.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  if (width) shrink(widths, width - GAP * (widths.length - 1));
  return lines.map((line) =>
    line
      .map((text, index) => {
        const width = widths[index] ?? 0;
        return cut(text, width).padEnd(width + GAP);
      })
      .join("")
      .trimEnd(),
  );
}

/** Shrinks the widest column until all columns fit. */
function shrink(widths: number[], available: number): void {
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - available; excess > 0; excess--) {
    const widest = Math.max(...widths);
    if (widest <= MIN_WIDTH) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;

/** Compares the output of a program with that of a page, except for values that differ each time. */
import { present } from "../../src/platform/present.ts";

/** Finds the shown lines, in order, among the printed ones; of JSON it compares only the names of members. */
export function isShapeOf(shown: string, printed: string): boolean {
  if (/^\s*\{/.test(shown)) return namesIn(shown).every((name) => namesIn(printed).includes(name));
  const left = printed.split("\n");
  return linesIn(shown).every((line) => {
    const pattern = new RegExp(`^\\s*${patternOf(line)}`);
    const index = left.findIndex((candidate) => pattern.test(candidate));
    left.splice(0, index + 1);
    return index !== -1;
  });
}

const linesIn = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && line !== "...");

const namesIn = (text: string): string[] =>
  Array.from(text.matchAll(/"(\w+)":/g), ([, name]) => present(name));

const PASSPHRASE = /^([a-z]{3,8} ){11}[a-z]{3,8}$/;
/** Patterns of values that differ each time, in the order in which they are tried. */
const VALUES: readonly [RegExp, string][] = [
  [/\.\.\./, ".*"],
  [/\d+(?:[.,:]\d+)*(?![\w])/, "[\\d.,:]+"],
  [/\b[0-9a-f]{7,}\b/, "[0-9a-f]+"],
  [/\bmsg_[0-9a-f]+/, "msg_[0-9a-f]+"],
  [/\bD[1-9A-HJ-NP-Za-km-z]{33}\b/, "D[1-9A-HJ-NP-Za-km-z]{33}"],
  [/\/\S+/, "/\\S+"],
  [/\s+/, "\\s+"],
];
const ANY_VALUE = new RegExp(VALUES.map(([{ source }]) => `(${source})`).join("|"), "g");

function patternOf(line: string): string {
  if (PASSPHRASE.test(line)) return "([a-z]{3,8} ){11}[a-z]{3,8}";
  let [pattern, end] = ["", 0];
  for (const match of line.matchAll(ANY_VALUE)) {
    const value = present(VALUES[match.slice(1).findIndex((found) => found !== undefined)])[1];
    pattern += RegExp.escape(line.slice(end, match.index)) + value;
    end = match.index + match[0].length;
  }
  return pattern + RegExp.escape(line.slice(end));
}

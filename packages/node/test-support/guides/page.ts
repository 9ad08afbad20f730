/** Pages of the documentation, as a reader takes them: blocks of commands, and what they print. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { present } from "../../src/platform/present.ts";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export type Block = {
  /** `sh`: commands; `text`: what the commands before it print; others are code or files. */
  readonly language: string;
  readonly text: string;
  /** Why no test types it; absent: one does. */
  readonly notRun?: string;
};

const BLOCK = /^(?:<!-- not run: ([^\n]+) -->\n+)?```(\w*)\n(.*?)^```$/gms;

/** @param path from the root of the repository */
export const blocksOf = (path: string): Block[] =>
  Array.from(readFileSync(`${ROOT}${path}`, "utf8").matchAll(BLOCK), ([, notRun, language, text]) => ({
    language: present(language),
    text: present(text),
    ...(notRun !== undefined && { notRun }),
  }));

/** The commands of a block: lines that end with a backslash go on, and what stands behind `  #` is for the reader. */
export const commandsOf = ({ text }: Block): string[] =>
  text
    .replaceAll(/\\\n\s*/g, "")
    // A text in quotes may have several lines.
    .split(/\n(?=(?:[^']*'[^']*')*[^']*$)/)
    .map((line) => line.replace(/\s{2,}#.*$/, "").trim())
    .filter((line) => line !== "");

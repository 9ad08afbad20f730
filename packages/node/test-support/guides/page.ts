/** Parses pages of the documentation into blocks of commands and their expected output. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { present } from "../../src/platform/present.ts";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

export type Block = {
  /** `sh`: commands; `text`: expected output of the commands before it; others are code or files. */
  readonly language: string;
  readonly text: string;
  /** Reason why no test runs the block; absent if one does. */
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

/** Splits a block into commands: a trailing backslash continues a line, and text after ` #` is a comment. */
export const commandsOf = ({ text }: Block): string[] =>
  text
    .replaceAll(/\\\n\s*/g, "")
    // A quoted text may have several lines.
    .split(/\n(?=(?:[^']*'[^']*')*[^']*$)/)
    .map((line) => line.replace(/\s{2,}#.*$/, "").trim())
    .filter((line) => line !== "");

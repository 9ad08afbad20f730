/** Reads the import graph of a folder of TypeScript files. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { present } from "../../src/platform/present.ts";

export type Import = {
  /** Paths relative to the folder that was read, with `/`. */
  readonly from: string;
  readonly to: string;
  /** Line of the import in the importing file, from 1. */
  readonly line: number;
};

/**
 * Path that a statement names after `from`, or a call of `import` with a text: types and re-exports included.
 */
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g;

const readSpecifiers = (text: string) =>
  [...text.matchAll(SPECIFIER)].map((match) => ({
    specifier: present(match[1]),
    line: text.slice(0, match.index).split("\n").length,
  }));

/** Every relative import of a text, unresolved. */
export const specifiersOf = (text: string): string[] =>
  readSpecifiers(text).map(({ specifier }) => specifier);

/** Every relative import in the files of a folder, or of a folder below it. */
export function readImports(folder: string, below = "."): Import[] {
  const name = (path: string) => relative(folder, path).split(sep).join("/");
  return readdirSync(join(folder, below), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.m?[jt]sx?$/.test(path) && !path.includes("node_modules"))
    .flatMap((path) => {
      const file = join(folder, below, path);
      // Missing files are imports within a text, as in tests.
      return readSpecifiers(readFileSync(file, "utf8"))
        .map(({ specifier, line }) => ({ target: resolve(dirname(file), specifier), line }))
        .filter(({ target }) => existsSync(target))
        .map(({ target, line }) => ({ from: name(file), to: name(target), line }));
    });
}

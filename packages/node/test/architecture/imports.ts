/** Reads the import graph of a folder of TypeScript files. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

export type Import = {
  /** Paths relative to the folder, with `/`. */
  readonly from: string;
  readonly to: string;
};

/** What a statement names after `from`, or a call of `import` with a text: types and re-exports included. */
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"/g;

/** Every relative import of a text, as it is written. */
export const specifiersOf = (text: string): string[] =>
  [...text.matchAll(SPECIFIER)].map(([, specifier]) => specifier!);

/** Every import between files of the folder. */
export function readImports(folder: string): Import[] {
  const name = (path: string) => relative(folder, path).split(sep).join("/");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const file = join(folder, path);
      return specifiersOf(readFileSync(file, "utf8")).map((specifier) => ({
        from: name(file),
        to: name(resolve(dirname(file), specifier)),
      }));
    });
}

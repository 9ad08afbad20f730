/** Sizes: functions of at most 60 lines, with their logic in named top-level functions, and the number of files of the node. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { readImports } from "./imports.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const MAX_LINES = 60;

/**
 * Function at the top level of a formatted file. Its last line is the first one that begins with its closing
 * bracket.
 */
const FIRST_LINE =
  /^(?:export )?(?:default )?(?:async )?(?:function\*? (\w+).*|const (\w+)\b.*(?:=>(?: [({]+)?|= (?:async )?\())$/;
/** End of a list of parameters, after which the body follows. */
const BODY_FOLLOWS = /^[)}\]].*[{(]$/;

const END_OR_NEXT = /^(?:[)}\]]|\/\*\*|\/\/|export |const |let |async |function|type |class |await |test)/;

type Found = { readonly name: string; readonly lines: number };

function functionsIn(source: string): Found[] {
  const lines = source.split("\n");
  const endAfter = (from: number): number => {
    const end = lines.findIndex((line, index) => index > from && END_OR_NEXT.test(line));
    // An expression on lines of its own ends before the next statement.
    if (end >= 0 && !/^[)}\]]/.test(present(lines[end]))) return end - 1;
    return end >= 0 && BODY_FOLLOWS.test(present(lines[end])) ? endAfter(end) : end;
  };
  return lines.flatMap((line, index) => {
    const match = FIRST_LINE.exec(line);
    const end = match ? endAfter(index) : -1;
    return end < 0 ? [] : [{ name: present(present(match)[1] ?? present(match)[2]), lines: end - index + 1 }];
  });
}

test("The length of a function counts its parameters and its body.", () => {
  const source = [
    "function a(",
    "  b: string,",
    "): void {",
    "  b;",
    "}",
    "",
    "const c = () => {",
    "};",
    "const d = () =>",
    "  a();",
    "const e = 1;",
  ].join("\n");
  expect(functionsIn(source)).toEqual([
    { name: "a", lines: 5 },
    { name: "c", lines: 2 },
    { name: "d", lines: 2 },
  ]);
});

const PACKAGE_FOLDERS = ["client", "console", "ledger", "node", "protocol"].map(
  (name) => `packages/${name}/src`,
);

const SUPPORT_FOLDERS = ["console", "ledger", "node", "protocol"].map(
  (name) => `packages/${name}/test-support`,
);

test.each([...PACKAGE_FOLDERS, ...SUPPORT_FOLDERS, "packages/console/documents", "tools", "bench"])(
  `No function of %s has more than ${MAX_LINES} lines.`,
  (path) => {
    const folder = join(ROOT, path);
    const functions = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .flatMap((path) =>
        functionsIn(readFileSync(join(folder, path), "utf8")).map((found) => ({ path, ...found })),
      );
    expect(functions.length).toBeGreaterThan(5);
    const longer = functions.filter(({ lines }) => lines > MAX_LINES);
    expect(longer.map(({ path, name, lines }) => `${lines} lines: ${path} ${name}`)).toEqual([]);
  },
);

/** Lower these numbers with each change that removes files. */
const MAX_FILES = 604;
const MAX_WITH_ONE_IMPORTER = 152;

test("The files of the node, and those with one importer, do not become more.", () => {
  const folder = join(ROOT, "packages/node/src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const importers = Map.groupBy(readImports(folder), ({ to }) => to);
  const withOne = files.filter((path) => new Set(importers.get(path)?.map(({ from }) => from)).size === 1);
  expect(files.length).toBeLessThanOrEqual(MAX_FILES);
  expect(withOne.length).toBeLessThanOrEqual(MAX_WITH_ONE_IMPORTER);
});

/** No folder of the repository has a cycle of imports between its files and folders, type imports included. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Cycle, findCycles } from "./cycles.ts";
import { readImports } from "./imports.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));
const SOURCES = [
  ...readdirSync(join(REPOSITORY, "packages")).map((name) => `packages/${name}/src`),
  "bench",
  "tools",
].filter((folder) => existsSync(join(REPOSITORY, folder)));

const describeCycle = ({ folder, children }: Cycle): string => `${folder}: ${children.join(", ")}`;
const describeImports = ({ imports }: Cycle): string[] =>
  imports.map(({ from, to, line }) => `  ${from}:${line} imports ${to}`);

// An import of another package or of a test folder leaves the source, and none leads back.
const imports = SOURCES.flatMap((source) =>
  readImports(REPOSITORY, source).filter(({ to }) => to.startsWith(`${source}/`)),
);
const cycles = findCycles(imports);

test("No folder has a cycle of imports.", () => {
  expect(imports.length).toBeGreaterThan(2_000);
  expect(cycles.flatMap((cycle) => [describeCycle(cycle), ...describeImports(cycle)])).toEqual([]);
});

const line = 1;

test("Two folders that import each other form a cycle, at every depth.", () => {
  const there = { from: "room/a/x.ts", to: "room/b/y.ts", line };
  const back = { from: "room/b/deep/z.ts", to: "room/a/w.ts", line };
  expect(findCycles([there])).toEqual([]);
  expect(findCycles([there, back])).toEqual([
    { folder: "room", children: ["a", "b"], imports: [there, back] },
  ]);
});

test("A cycle through a third child is found; a child that only imports it is not part of it.", () => {
  const chain = [
    { from: "a.ts", to: "b/index.ts", line },
    { from: "b/index.ts", to: "c.ts", line },
    { from: "c.ts", to: "a.ts", line },
    { from: "main.ts", to: "a.ts", line },
  ];
  expect(findCycles(chain).map(describeCycle)).toEqual([": a.ts, b, c.ts"]);
});

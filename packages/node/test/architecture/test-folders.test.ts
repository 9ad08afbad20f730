/** A test folder is imported only by itself. Tests share code in the `test-support` of a package. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Import, readImports } from "./imports.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));
const OWN_PATH = "packages/node/test/architecture/test-folders.test.ts";
const FOLDERS = ["packages", "tools", "bench", "test", "examples"];

/** `packages/node/test/pool` of `packages/node/test/pool/order.test.ts`; undefined outside of the test folders. */
const testFolderOf = (path: string): string | undefined =>
  /^(packages\/[^/]+\/)?test\/([^/]+(?=\/))?/.exec(path)?.[0];
const isForeign = ({ from, to }: Pick<Import, "from" | "to">): boolean =>
  testFolderOf(to) !== undefined && testFolderOf(to) !== testFolderOf(from);

const packageOf = (path: string): string | undefined => /^packages\/[^/]+\/src\//.exec(path)?.[0];
/**
 * No other package imports internals of a library. The node has no public names: its tests and tools import
 * its files.
 */
const isInternal = ({ from, to }: Pick<Import, "from" | "to">): boolean =>
  packageOf(to) !== undefined &&
  packageOf(to) !== "packages/node/src/" &&
  !to.startsWith(from.split("/", 2).join("/"));

const imports = FOLDERS.flatMap((folder) => readImports(REPOSITORY, folder));

test("A test folder is imported by its own tests only.", () => {
  expect(imports.length).toBeGreaterThan(2_000);
  expect(imports.filter(isForeign).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

/** Modules of the console run in a process for each file. */
const testFiles = FOLDERS.flatMap((folder) =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" }).map(
    (path) => `${folder}/${path}`,
  ),
).filter(
  (path) => path.endsWith(".test.ts") && !/node_modules|^packages\/console\//.test(path) && path !== OWN_PATH,
);

test("A test restores its own mocks: all mocks include the mocks of other files in the worker, which would be restored again.", () => {
  expect(testFiles.length).toBeGreaterThan(500);
  const restoring = testFiles.filter((path) =>
    readFileSync(join(REPOSITORY, path), "utf8").includes("restoreAllMocks()"),
  );
  expect(restoring).toEqual([]);
});

test("A library is imported by its name, and its files by itself only.", () => {
  expect(imports.filter(isInternal).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("An import of another test folder, and one of a library's file, are found.", () => {
  const order = "packages/node/test/pool/order.test.ts";
  expect(isForeign({ from: order, to: "packages/node/test/pool/fixtures.ts" })).toBe(false);
  expect(isForeign({ from: order, to: "packages/node/test-support/pool/beside.ts" })).toBe(false);
  expect(isForeign({ from: order, to: "packages/node/test/http/samples.ts" })).toBe(true);
  expect(isForeign({ from: "bench/pool.ts", to: "packages/node/test/pool/fixtures.ts" })).toBe(true);
  expect(isForeign({ from: "packages/node/test-support/pool/beside.ts", to: "test/vectors.ts" })).toBe(true);
  expect(isInternal({ from: order, to: "packages/ledger/src/votes.ts" })).toBe(true);
  expect(isInternal({ from: "packages/ledger/test/votes.test.ts", to: "packages/ledger/src/votes.ts" })).toBe(
    false,
  );
});

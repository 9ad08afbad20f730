/**
 * The serving side reads and writes through ports (packages/node/src/processes/serving/sources.ts): a process on another machine
 * gives it other implementations.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readImports } from "./imports.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const imports = readImports(SOURCE);

/** Folder of one implementation, and those that may know it besides other implementations. */
const IMPLEMENTATION = /^[^/]+\/sqlite\//;
const BUILDERS = /^(processes|archive|commands)\//;
/** Files of the serving process that are the same on every machine. */
const SHARED =
  /^processes\/serving\/(assembly|http|listeners|operations|served-data|sources|webhook-options|webhooks)\.ts$/;
/** Files that only the serving thread of a node imports. */
const OF_A_NODE =
  /^(store\/|[^/]+\/sqlite\/|gateway\/channel|processes\/serving\/(node-|thread|slow-queries))/;

const list = (found: typeof imports) => found.map(({ from, to }) => `${from} imports ${to}`);

test("Nothing but composition roots and commands imports an implementation on SQLite.", () => {
  const others = imports.filter(
    ({ from, to }) => IMPLEMENTATION.test(to) && !IMPLEMENTATION.test(from) && !BUILDERS.test(from),
  );
  expect(imports.filter(({ to }) => IMPLEMENTATION.test(to)).length).toBeGreaterThan(20);
  expect(list(others)).toEqual([]);
});

test("Routes, streams and views of operators import no module of the database.", () => {
  const users = /^(http|stream|operations)\//;
  const isUser = (path: string) => users.test(path) && !IMPLEMENTATION.test(path);
  const leaks = imports.filter(
    ({ from, to }) => isUser(from) && to.startsWith("store/") && to !== "store/chain/visible-fields.ts",
  );
  expect(list(leaks)).toEqual([]);
});

test("A serving process is assembled from ports: neither SQLite nor the channel to consensus is imported.", () => {
  const files = new Set(imports.map(({ from }) => from).filter((from) => SHARED.test(from)));
  expect(files.size).toBe(8);
  const leaks = imports.filter(({ from, to }) => SHARED.test(from) && OF_A_NODE.test(to));
  expect(list(leaks)).toEqual([]);
});

/**
 * The read model is a port (packages/node/src/read/port.ts): only composition roots import an implementation.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readImports } from "./imports.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const imports = readImports(SOURCE);

/** Folder of one implementation. */
const IMPLEMENTATION = /^read\/[^/]+\//;
const isPort = (from: string) => from.startsWith("read/") && !IMPLEMENTATION.test(from);

test("Only composition roots import an implementation of the read model.", () => {
  const strangers = imports.filter(
    ({ from, to }) => IMPLEMENTATION.test(to) && !IMPLEMENTATION.test(from) && !from.startsWith("processes/"),
  );
  expect(strangers.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("Implementations of the read model do not import each other.", () => {
  const folderOf = (path: string) => path.split("/")[1];
  const strangers = imports.filter(
    ({ from, to }) => IMPLEMENTATION.test(from) && IMPLEMENTATION.test(to) && folderOf(from) !== folderOf(to),
  );
  expect(strangers.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("Routes do not import the engine of the database.", () => {
  const leaks = imports.filter(({ from, to }) => from.startsWith("http/") && to.startsWith("store/engine/"));
  expect(leaks.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("The port and its implementation on PostgreSQL do not import the database of the node.", () => {
  const leaks = imports.filter(
    ({ from, to }) => (isPort(from) || from.startsWith("read/postgres/")) && to.startsWith("store/"),
  );
  expect(leaks.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("Only one file uses the driver of PostgreSQL, and only mirrors, API servers, delivery workers and the doctor load that file.", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".ts"),
  );
  const filesWith = (pattern: RegExp) =>
    files.filter((path) => pattern.test(readFileSync(join(SOURCE, path), "utf8")));
  expect(filesWith(/^import (?!type ).* from "pg"/m)).toEqual(["postgres/connection.ts"]);
  expect(filesWith(/^import (?!type )[^;]*\/postgres\/connection\.ts"/m).sort()).toEqual([
    "commands/doctor/database.ts",
    "processes/deliver/deliver.ts",
    "processes/hand-over.ts",
    "processes/mirror/mirror.ts",
    "processes/serve/serve.ts",
    "processes/serve/webhooks.ts",
  ]);
});

/**
 * The read model is a port (packages/node/src/read/port.ts): only composition roots import an implementation.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readImports } from "./imports.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const imports = readImports(SOURCE);

/** Folder of one implementation. */
const IMPLEMENTATION = /^read\/[^/]+\//;

test("Only composition roots import an implementation of the read model.", () => {
  const strangers = imports.filter(
    ({ from, to }) => IMPLEMENTATION.test(to) && !IMPLEMENTATION.test(from) && !from.startsWith("processes/"),
  );
  expect(strangers.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("Neither the port nor its users import the engine of the database.", () => {
  const isPort = (from: string) => from.startsWith("read/") && !IMPLEMENTATION.test(from);
  const leaks = imports.filter(
    ({ from, to }) => (isPort(from) || from.startsWith("http/")) && to.startsWith("store/engine/"),
  );
  expect(leaks.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

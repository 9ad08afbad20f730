/**
 * The webhook service uses its database through ports (`WebhookStorage` in
 * packages/node/src/webhooks/webhooks.ts): only composition roots, and commands on a data folder whose node
 * does not run, import an implementation. Implementations do not import each other.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readImports } from "./imports.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));
const imports = readImports(SOURCE);

const IMPLEMENTATIONS = ["webhooks/sqlite/", "webhooks/postgres/"];
/** Composition roots, and commands on a data folder whose node does not run. */
const BUILDERS = /^(processes|archive|commands)\//;

const implementationOf = (path: string) => IMPLEMENTATIONS.find((folder) => path.startsWith(folder));
const isService = (path: string) => path.startsWith("webhooks/") && implementationOf(path) === undefined;

test("Only composition roots and commands import an implementation of the webhook storage.", () => {
  const others = imports.filter(({ from, to }) => {
    const implementation = implementationOf(to);
    return implementation !== undefined && !from.startsWith(implementation) && !BUILDERS.test(from);
  });
  expect(others.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("No file of the webhook service imports a module of the database.", () => {
  const leaks = imports.filter(({ from, to }) => isService(from) && /^(?:store|postgres)\//.test(to));
  expect(leaks.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("No file of the webhook service prepares a statement.", () => {
  const files = [...new Set(imports.map(({ from }) => from).filter(isService))];
  expect(files.length).toBeGreaterThan(20);
  const prepared = files.filter((path) => /\.prepare\b/.test(readFileSync(join(SOURCE, path), "utf8")));
  expect(prepared).toEqual([]);
});

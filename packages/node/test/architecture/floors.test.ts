/** The rooms of the node and their floors (docs/architecture.md): no import leads to a higher floor. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { type Import, readImports, specifiersOf } from "./imports.ts";

const SOURCE = fileURLToPath(new URL("../../src", import.meta.url));

/** From the lowest up. A room imports itself and the rooms before it, type imports included. */
const FLOORS = [
  "platform",
  "events",
  "gateway",
  "store",
  "postgres",
  "event-log",
  "facts",
  "feed",
  "verification",
  "chain",
  "pool",
  "forger",
  "peers",
  "read",
  "proofs",
  "subscriptions",
  "stream",
  "webhooks",
  "conform",
  "http",
  "operations",
  "archive",
  "mirror",
  "witness",
  "config",
  "hand-over",
  "submission",
  "rpc",
  "dev-chain",
  "processes",
  "commands",
];
const MOST_FILES_IN_A_FOLDER = 24;

const roomOf = (path: string): string => present(path.split("/")[0]);
const floorOf = (path: string): number => FLOORS.indexOf(roomOf(path));
const leadsUp = ({ from, to }: Pick<Import, "from" | "to">): boolean => floorOf(to) > floorOf(from);

const foldersBelow = (folder: string): string[] => [
  folder,
  ...readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => foldersBelow(join(folder, entry.name))),
];

test("Every folder of the source is a room with a floor, and no file lies outside of a room.", () => {
  expect(readdirSync(SOURCE).sort()).toEqual([...FLOORS].sort());
  for (const room of FLOORS) expect(statSync(join(SOURCE, room)).isDirectory(), room).toBe(true);
});

test("No import leads to a higher floor.", () => {
  const imports = readImports(SOURCE);
  expect(imports.length).toBeGreaterThan(1_000);
  expect(imports.filter(leadsUp).map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test("No room is a single file, and no folder contains more files than a reader can survey.", () => {
  const filesIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".ts")).length;
  for (const room of FLOORS) {
    const files = foldersBelow(join(SOURCE, room)).map(filesIn);
    expect(
      files.reduce((sum, count) => sum + count),
      room,
    ).toBeGreaterThan(1);
    expect(Math.max(...files), room).toBeLessThanOrEqual(MOST_FILES_IN_A_FOLDER);
  }
});

test("Imports of values, of types, re-exports and calls of import are all found.", () => {
  const text = `
    import { a } from "./a.ts";
    import type { B } from "../b.ts";
    export { c } from "./c.ts";
    import "./d.ts";
    const e = await import("./e.ts");
    let f: import("./f.ts").F;
    import fastify from "fastify";`;
  expect(specifiersOf(text)).toEqual(["./a.ts", "../b.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"]);
});

test("An import to a higher floor is found.", () => {
  expect(leadsUp({ from: "store/engine/database.ts", to: "chain/chain.ts" })).toBe(true);
  expect(leadsUp({ from: "chain/chain.ts", to: "store/engine/database.ts" })).toBe(false);
  expect(leadsUp({ from: "chain/chain.ts", to: "chain/pipeline/commit.ts" })).toBe(false);
});

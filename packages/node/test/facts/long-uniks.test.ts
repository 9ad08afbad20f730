/** Uniks with many properties: the tree of facts grows by what changes, in steps, and clients verify all of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ResolutionVerdict } from "@uniknode/client/proofs";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { Growth } from "../../src/facts/growth.ts";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { present } from "../../src/platform/present.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import {
  LONG_UNIK,
  propertiesOf,
  type WrittenChain,
  writtenChain,
} from "../../test-support/facts/long-unik.ts";
import { createResolutions } from "../../test-support/facts/resolutions.ts";
import { createDraws } from "../../test-support/random.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

/** Opens a chain whose unik has some properties, all of them final. */
function opened(properties: number, name = "node.sqlite"): WrittenChain {
  const chain = writtenChain(`${folder.path}/${name}`);
  onTestFinished(() => chain.database.close());
  chain.append([chain.mint()]);
  chain.addProperties(1, properties);
  chain.finalize();
  return chain;
}

const growthOf = ({ database, network }: WrittenChain, onTruncated = () => {}): Growth =>
  new Growth({ database, network, onTruncated });

function complete(growth: Growth): void {
  while (growth.step(performance.now() + 5));
}

const rootOf = async ({ database, network }: WrittenChain) =>
  Buffer.from((await new SqliteFactReader(database, network).checkpoint()).root).toString("hex");

const resolutionsOf = ({ database, network }: WrittenChain) => createResolutions(database, network);

function provenOf(verdict: ResolutionVerdict) {
  if (verdict.verdict !== "proven") throw new Error(`${verdict.step}: ${verdict.reason}`);
  return present(verdict.unik, "the unik");
}

/** A property of this value has a row, others are in pages. */
const LONG = "long ".repeat(40);
const LARGE = Array.from({ length: 1_530 }, (_, index) => [`large-${index}`, `${index}`] as const);

/** Updates that change, add and remove properties; each in a transaction of its own, and some with many. */
function changes(chain: WrittenChain) {
  const updates = Array.from({ length: 120 }, (_, index) => ({
    [`key-${1 + index * 3}`]: index % 5 === 0 ? null : `changed ${index}`,
    [`new-${index}`]: "new",
  }));
  const large = Array.from({ length: 6 }, (_, index) =>
    Object.fromEntries(LARGE.slice(index * 255, (index + 1) * 255)),
  );
  const long = [
    { "key-2": LONG, "key-5": LONG, "key-8": LONG },
    { "key-5": "short", "key-8": null },
  ];
  return [...updates, ...large, ...long, { type: "2" }].map((properties) => chain.update(properties));
}

/** The properties after these changes. */
function changed(properties: Record<string, string>): Record<string, string> {
  const all = new Map(Object.entries(properties));
  for (let index = 0; index < 120; index++) {
    if (index % 5 === 0) all.delete(`key-${1 + index * 3}`);
    else all.set(`key-${1 + index * 3}`, `changed ${index}`);
    all.set(`new-${index}`, "new");
  }
  all.delete("key-8");
  return { ...Object.fromEntries([...all, ...LARGE]), "key-2": LONG, "key-5": "short", type: "2" };
}

const partial = (database: Database): boolean =>
  database.prepare<{ id: string | null }>("SELECT round_id AS id FROM unik_map").get()?.id != null;

test("A round is added in steps, and readers see the last complete round after each of them.", async () => {
  const chain = opened(2_000);
  const growth = growthOf(chain);
  complete(growth);
  const resolutions = resolutionsOf(chain);
  const before = { ...propertiesOf(1, 2_000), type: "1" };
  const resolve = async () => provenOf(await resolutions.client().resolve(LONG_UNIK, resolutions.key));
  const first = await resolve();
  expect(first.properties).toEqual(before);
  chain.append(changes(chain));
  chain.finalize();
  const seen = { partial: 0, after: 0 };
  while (growth.step(0)) {
    if (seen.after > 3) continue;
    if (!partial(chain.database)) {
      if ((await resolutions.resolve(LONG_UNIK))?.unik?.properties !== first.root) seen.after++;
      continue;
    }
    if (seen.partial++ % 16 > 0) continue;
    const unik = await resolve();
    expect(unik.properties).toEqual(seen.after === 0 ? before : changed(before));
  }
  expect(seen.partial).toBeGreaterThan(4);
  expect((await resolve()).properties).toEqual(changed(before));
  const long = "SELECT count(*) AS rows FROM unik_rows WHERE substr(key, 1, 1) = x'70'";
  expect(chain.database.prepare(long).get()).toEqual({ rows: 1 });
});

/** Counts the rows of the map that statements of a database read and write one by one. */
function counting(chain: WrittenChain) {
  const counts = { reads: 0, writes: 0 };
  const prepare: Database["prepare"] = (sql, options) => {
    const statement = chain.database.prepare<never>(sql, options);
    if (!sql.includes("unik_rows")) return statement;
    return {
      ...{ all: statement.all.bind(statement), iterate: statement.iterate.bind(statement) },
      get(...values) {
        counts.reads++;
        return statement.get(...values);
      },
      run(...values) {
        counts.writes++;
        return statement.run(...values);
      },
    };
  };
  return { counts, chain: { ...chain, database: { ...chain.database, prepare } } };
}

test("An update of one of 60, 2,000 or 30,000 properties reads and writes at most one, two or three rows, and four of the round.", () => {
  const UPDATES = 60;
  for (const [properties, rows] of [
    [60, 1],
    [2_000, 2],
    [30_000, 3],
  ] as const) {
    const { chain, counts } = counting(opened(properties, `${properties}.sqlite`));
    const growth = growthOf(chain);
    complete(growth);
    chain.append(Array.from({ length: UPDATES }, (_, index) => chain.update({ [`key-${1 + index}`]: "x" })));
    chain.finalize();
    Object.assign(counts, { reads: 0, writes: 0 });
    while (growth.step(Number.POSITIVE_INFINITY));
    expect(counts.writes).toBeLessThanOrEqual(UPDATES * rows + 4);
    // A batch reads the owner and the page of the unik again.
    expect(counts.reads).toBeLessThanOrEqual(UPDATES * rows + 10);
  }
});

test("A step of a build changes at most 1,000 rows, however many properties a unik and a round have.", () => {
  const chain = opened(8_000);
  const growth = growthOf(chain);
  const total = chain.database.prepare<{ n: number }>("SELECT total_changes() AS n");
  const changes: number[] = [];
  for (let isBehind = true; isBehind; ) {
    const before = present(total.get()).n;
    isBehind = growth.step(Number.POSITIVE_INFINITY);
    changes.push(present(total.get()).n - before);
  }
  expect(changes.length).toBeGreaterThan(10);
  expect(Math.max(...changes)).toBeLessThan(1_000);
});

/** The next process ends the work, also on a slow machine. */
const MAX_KILLS = 4;

test("A process that is killed at random times continues, and the tree is that of a process without kills.", async () => {
  const chain = opened(4_000);
  for (let block = 0; block < 2; block++) chain.append(changes(chain));
  chain.finalize();
  chain.database.checkpoint();
  const copy = `${folder.path}/copy.sqlite`;
  chain.database.execute(`VACUUM INTO '${copy}'`);
  complete(growthOf(chain));
  const script = new URL("./growing-long.ts", import.meta.url).pathname;
  const random = createDraws(11);
  let [isFinished, kills] = [false, 0];
  while (!isFinished) {
    const child = spawn(process.execPath, [script, copy], { stdio: ["ignore", "pipe", "inherit"] });
    createInterface(child.stdout).on("line", (line) => {
      if (line === "end") isFinished = true;
      if (line === "started" && kills < MAX_KILLS)
        setTimeout(() => child.kill("SIGKILL") && kills++, random.integer(1, 60) * (1 + kills));
    });
    await once(child, "close");
  }
  expect(kills).toBeGreaterThan(0);
  const continued = { ...chain, database: chain.open(copy) };
  onTestFinished(() => continued.database.close());
  expect(await rootOf(continued)).toBe(await rootOf(chain));
  const rows = ({ database }: WrittenChain) => database.prepare("SELECT * FROM unik_rows ORDER BY key").all();
  expect(rows(continued)).toEqual(rows(chain));
});

test("A revert in the middle of a round restores the map, also across restarts, and other blocks are added.", async () => {
  const chain = opened(2_000);
  let growth = growthOf(chain);
  complete(growth);
  const { height } = chain.head();
  chain.append(changes(chain));
  chain.finalize();
  while (growth.step(0) && !partial(chain.database));
  expect(partial(chain.database)).toBe(true);
  chain.removeFrom(height + 1);
  chain.append([chain.update({ other: "block" })]);
  chain.finalize(4);
  // A restart repeats changes that were not written yet.
  for (let [step, isBehind] = [0, true]; isBehind; step++) {
    if (step % 50 === 0) growth = growthOf(chain);
    isBehind = growth.step(0);
  }
  const resolutions = resolutionsOf(chain);
  const { properties } = provenOf(await resolutions.client().resolve(LONG_UNIK, resolutions.key));
  expect(properties).toEqual({ ...propertiesOf(1, 2_000), type: "1", other: "block" });
  const grown = await rootOf(chain);
  chain.database.execute(
    "DELETE FROM unik_map; DELETE FROM unik_rows; DELETE FROM unik_before; DELETE FROM unik_roots",
  );
  chain.database.execute("DELETE FROM fact_tiles; DELETE FROM fact_sizes");
  complete(growthOf(chain));
  expect(await rootOf(chain)).toBe(grown);
});

test("A revert of complete rounds empties the map in steps, and builds it again.", async () => {
  const chain = opened(2_000);
  const growth = growthOf(chain);
  complete(growth);
  chain.removeFrom(3);
  chain.addProperties(1, 700);
  chain.finalize(4);
  growth.reverted();
  let steps = 0;
  for (; growth.step(0); steps++);
  expect(steps).toBeGreaterThan(5);
  const resolutions = resolutionsOf(chain);
  const { properties } = provenOf(await resolutions.client().resolve(LONG_UNIK, resolutions.key));
  expect(properties).toEqual({ ...propertiesOf(1, 700), type: "1" });
});

test("Clients verify all properties in pages, single ones by their names, and absent ones.", async () => {
  const chain = opened(3_000);
  complete(growthOf(chain));
  const { client, key } = resolutionsOf(chain);
  let requests = 0;
  const verifying = client(() => requests++);
  const all = provenOf(await verifying.resolve(LONG_UNIK, key));
  expect(all).toMatchObject({ type: "1", revoked: false, next: null });
  expect(all.properties).toEqual({ ...propertiesOf(1, 3_000), type: "1" });
  expect(requests).toBeGreaterThan(5);
  expect(requests).toBeLessThan(20);

  const pages: number[] = [];
  const expected = requests;
  for await (const verdict of verifying.resolvePages(LONG_UNIK, key)) {
    const unik = provenOf(verdict);
    pages.push(Object.keys(unik.properties).length);
    expect(unik).toMatchObject({ root: all.root, type: "1" });
  }
  expect(pages).toHaveLength(expected);
  expect(Math.max(...pages)).toBeLessThan(505);

  requests = 0;
  const names = [...Array.from({ length: 20 }, (_, index) => `key-${1 + 100 * index}`), "absent"];
  const some = provenOf(await verifying.resolve(LONG_UNIK, key, { properties: names }));
  expect(Object.keys(some.properties).sort()).toEqual(names.slice(0, -1).sort());
  expect([some.type, requests]).toEqual(["1", 2]);
});

test("A unik whose properties change between two pages is requested again, and its pages are of one state.", async () => {
  const chain = opened(1_500);
  const growth = growthOf(chain);
  complete(growth);
  const { client, key } = resolutionsOf(chain);
  let requests = 0;
  const verifying = client(() => {
    requests++;
    if (requests > 6 || requests % 2 === 1) return;
    chain.append([chain.update({ [`while-${requests}`]: "reading" })]);
    chain.finalize();
    complete(growth);
  });
  const { properties } = provenOf(await verifying.resolve(LONG_UNIK, key));
  expect(properties).toEqual({
    ...{ ...propertiesOf(1, 1_500), type: "1" },
    ...{ "while-2": "reading", "while-4": "reading", "while-6": "reading" },
  });
});

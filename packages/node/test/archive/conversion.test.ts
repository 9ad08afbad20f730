/** The conversion of databases of earlier versions: stopped, killed and resumed at every step, and verified. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createNetwork } from "@uniknode/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { convertDatabase } from "../../src/archive/conversion/convert.ts";
import { stateDigest } from "../../src/archive/digest.ts";
import { inspectDatabase } from "../../src/archive/integrity/damage.ts";
import { present } from "../../src/platform/present.ts";
import { isEarlierSchema, schemaText } from "../../src/store/conversion/schema.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate, openReader } from "../../src/store/engine/migrations.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { applyEarlier, earlierMigrations, openEarlier } from "../../test-support/store/earlier-schema.ts";
import { networkFilesOf } from "../../test-support/upgrade/network.ts";

const FOLDERS = join(import.meta.dirname, "../upgrade/folders");
const FIRST = "0.1.0";
/** The last schema before the baseline, with a tree of facts. */
const LAST = "0.1.0-016";
/** LAST, converted to the first baseline. */
const BASELINE = "0.1.0-baseline";
const network = createNetwork(networkFilesOf());

/** Returns the path of the database of an earlier version. */
function unpack(version: string): string {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  execFileSync("tar", ["-xzf", join(FOLDERS, `${version}.tar.gz`), "-C", folder.path]);
  return join(folder.path, "data/node.sqlite");
}

type Steps = { readonly onProgress?: (step: string) => void; readonly signal?: AbortSignal };

const convert = (path: string, steps: Steps = {}) =>
  convertDatabase(path, {
    network,
    signal: new AbortController().signal,
    onProgress() {},
    ...steps,
  });

/**
 * Returns all rows of all tables, without the time of the converted file, and without the sizes between the steps of the tree of
 * facts, which depend on the time of each step.
 */
function contentOf(path: string): unknown {
  const database = openReader(path);
  const tables = database
    .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all();
  const conditions: Readonly<Record<string, string>> = {
    meta: "key <> 'convertedFrom'",
    fact_sizes: "height = (SELECT max(height) FROM fact_sizes)",
  };
  const content = tables.map(({ name }) => [
    name,
    database.prepare(`SELECT * FROM ${name} WHERE ${conditions[name] ?? "TRUE"}`, { bigints: true }).all(),
  ]);
  database.close();
  return content;
}

function describeEarlier(path: string): { state: string; head: unknown; facts: unknown } {
  return reading(path, (database) => ({
    state: stateDigest(database),
    head: database.prepare("SELECT max(height) AS height FROM blocks").get(),
    facts: undefined,
  }));
}

function reading<T>(path: string, read: (database: Database) => T): T {
  const database = openDatabase(path, { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

const change = (path: string, sql: string) => {
  const database = openDatabase(path);
  database.execute(sql);
  database.close();
};

test.each([FIRST, LAST, BASELINE])(
  "A database of %s gets the schema and the rows of this version.",
  async (version) => {
    const path = unpack(version);
    const before = describeEarlier(path);
    await convert(path);
    const created = openDatabase(":memory:");
    migrate(created);
    reading(path, (database) => {
      expect(schemaText(database, "main")).toBe(schemaText(created, "main"));
      expect(database.prepare("SELECT * FROM sqlite_stat1 ORDER BY idx").all()).toEqual(
        created.prepare("SELECT * FROM sqlite_stat1 ORDER BY idx").all(),
      );
      expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
    });
    expect(describeEarlier(path)).toEqual(before);
    expect(inspectDatabase(path, { blocks: { network, forMs: 10_000 } }).damage).toBeUndefined();
    expect(readdirSync(join(path, "..")).filter((name) => name.includes("converted"))).toEqual([]);
    created.close();
  },
);

test("A database that has some forms of this version gets the same rows.", async () => {
  const other = unpack(LAST);
  await convert(other);
  for (const upTo of ["017", "018", "019"]) {
    const partly = unpack(LAST);
    const database = openDatabase(partly);
    applyEarlier(database, "017", upTo);
    database.close();
    await convert(partly);
    expect(contentOf(partly), upTo).toEqual(contentOf(other));
  }
  const baseline = unpack(BASELINE);
  await convert(baseline);
  expect(contentOf(baseline)).toEqual(contentOf(other));
});

test("Numbers of removed rows are not used again.", async () => {
  const path = unpack(LAST);
  change(path, "INSERT INTO webhooks SELECT * FROM webhooks WHERE FALSE; DELETE FROM events");
  const sequences = (database: Database) =>
    database.prepare("SELECT name, seq FROM sqlite_sequence ORDER BY name").all();
  const before = reading(path, sequences);
  await convert(path);
  expect(reading(path, sequences)).toEqual(before);
});

/** Converts a database, and stops after every step. */
async function convertWithStops(path: string, onStop: () => void): Promise<void> {
  for (let isComplete = false; !isComplete; ) {
    const stopping = new AbortController();
    let steps = 0;
    const onProgress = () => {
      steps += 1;
      // The first call reports what was done before.
      if (steps === 2) stopping.abort();
    };
    isComplete = await convert(path, { signal: stopping.signal, onProgress }).then(
      () => true,
      (error: Error) => {
        expect(error.name).toBe("AbortError");
        onStop();
        return false;
      },
    );
  }
}

test("A conversion that is stopped after every step ends with the same rows.", async () => {
  const [path, other] = [unpack(LAST), unpack(LAST)];
  await convert(other);
  const original = readFileSync(path);
  let stops = 0;
  await convertWithStops(path, () => {
    stops += 1;
    expect(readFileSync(path).equals(original)).toBe(true);
  });
  expect(stops).toBeGreaterThan(10);
  expect(contentOf(path)).toEqual(contentOf(other));
});

test("Numbers that follow from another table stay when a stopped conversion continues.", async () => {
  const path = unpack(BASELINE);
  change(
    path,
    `UPDATE transactions SET recipient = NULL; DELETE FROM recipients;
     INSERT INTO payees SELECT address, 1, 0 FROM wallets ORDER BY address LIMIT 3`,
  );
  await convertWithStops(path, () => {});
  const rows = "SELECT count(*) AS n FROM payees JOIN recipients ON number = payee";
  expect(reading(path, (database) => database.prepare(rows).get())).toEqual({ n: 3 });
});

describe("A killed conversion", () => {
  const CHILD = join(import.meta.dirname, "../../test-support/upgrade/killed-conversion.ts");

  test("is continued by the next one, whenever it is killed.", async () => {
    const [path, other] = [unpack(LAST), unpack(LAST)];
    await convert(other);
    for (const calls of [1, 12, 20]) {
      const child = spawn(process.execPath, [CHILD, path, String(calls)], { stdio: "inherit" });
      const [, signal] = await once(child, "exit");
      expect(signal).toBe("SIGKILL");
    }
    await convert(path);
    expect(contentOf(path)).toEqual(contentOf(other));
  });
});

/** Returns a database beside its complete copy: the conversion was killed before it renamed the copy. */
async function unpackWithCopy(): Promise<string> {
  const path = unpack(LAST);
  const earlier = `${path}.earlier`;
  execFileSync("cp", ["-p", path, earlier]);
  await convert(path);
  renameSync(path, `${path}.converted`);
  renameSync(earlier, path);
  return path;
}

test("A complete copy only replaces the database.", async () => {
  const path = await unpackWithCopy();
  const copy = readFileSync(`${path}.converted`);
  const steps: string[] = [];
  await convert(path, { onProgress: (step) => void steps.push(step) });
  expect(steps).toEqual([]);
  expect(readFileSync(path).equals(copy)).toBe(true);
});

test("A complete copy does not replace what an earlier version has written since.", async () => {
  const path = await unpackWithCopy();
  change(path, "DELETE FROM missed_slots");
  await convert(path);
  expect(reading(path, (database) => database.prepare("SELECT * FROM missed_slots").all())).toEqual([]);
});

test("A copy of a database that an earlier version has changed since is begun again.", async () => {
  const path = unpack(LAST);
  const stopping = new AbortController();
  const onProgress = () => stopping.abort();
  await expect(convert(path, { signal: stopping.signal, onProgress })).rejects.toThrow("abort");
  change(
    path,
    "UPDATE meta SET value = 'another token' WHERE key = 'webhookToken'; DELETE FROM missed_slots",
  );
  await convert(path);
  expect(reading(path, (database) => database.prepare("SELECT * FROM missed_slots").all())).toEqual([]);
});

describe("The copy is refused, and the database stays as it was,", () => {
  async function expectRefusal(path: string, reason: RegExp): Promise<void> {
    await expect(convert(path)).rejects.toMatchObject({
      code: "DATA_DAMAGED",
      message: expect.stringMatching(reason),
    });
    expect(reading(path, (database) => isEarlierSchema(schemaText(database, "main")))).toBe(true);
    expect(existsSync(`${path}.converted`)).toBe(false);
  }

  test("if a block does not match its id", async () => {
    const path = unpack(FIRST);
    change(path, "UPDATE blocks SET reward = reward + 1 WHERE height = 5");
    await expectRefusal(path, /block 5: its columns do not match its bytes/);
  });

  test("if rows of a table do not match", async () => {
    const path = unpack(LAST);
    change(path, "DELETE FROM block_ends WHERE height = 20");
    await expectRefusal(path, /1 rows of the table blocks do not match other tables/);
  });

  test("if the facts differ", async () => {
    const path = unpack(LAST);
    change(path, "UPDATE fact_tiles SET hashes = zeroblob(length(hashes))");
    await expectRefusal(path, /the facts root of the copy differs/);
  });

  test("if the state differs", async () => {
    const path = unpack(LAST);
    const stopping = new AbortController();
    const onProgress = (step: string) => {
      if (step === "creating indexes") stopping.abort();
    };
    await expect(convert(path, { signal: stopping.signal, onProgress })).rejects.toThrow("abort");
    change(`${path}.converted`, "UPDATE wallets SET balance = balance + 1 WHERE balance > 0");
    await expectRefusal(path, /the state of the copy differs/);
    // The damage was in the copy.
    await convert(path);
  });
});

test("A write-ahead log of the earlier version is copied, and does not stay beside the new file.", async () => {
  const path = unpack(LAST);
  const writer = openDatabase(path, { makesCheckpoints: false });
  writer.execute("DELETE FROM missed_slots");
  // As after a kill: the log is there, and no process has it open.
  for (const suffix of ["", "-wal"]) execFileSync("cp", [path + suffix, `${path}.killed${suffix}`]);
  writer.close();
  const killed = `${path}.killed`;
  await convert(killed);
  expect(existsSync(`${killed}-wal`)).toBe(false);
  expect(reading(killed, (database) => database.prepare("SELECT * FROM missed_slots").all())).toEqual([]);
});

test("A database of a newer version is not converted.", async () => {
  const path = unpack(LAST);
  change(path, "INSERT INTO migrations VALUES ('999-future.sql', '0')");
  expect(() => openReader(path)).toThrow(expect.objectContaining({ code: "MIGRATION_UNKNOWN" }));
  expect(existsSync(`${path}.converted`)).toBe(false);
});

test("All schemas since the first version are known.", () => {
  const numbers = earlierMigrations().map((name) => name.slice(0, 3));
  const known = numbers.filter((number) => {
    const database = openEarlier(":memory:", number);
    const isKnown = isEarlierSchema(schemaText(database, "main"));
    database.close();
    return isKnown;
  });
  expect(known).toEqual(numbers.slice(7));
  expect(present(known[0])).toBe("008");
});

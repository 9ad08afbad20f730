import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, openSync, readdirSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { presets } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inspectDatabase } from "../../src/archive/integrity/damage.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { type Archived, archiveFixture } from "../../test-support/archive/fixture.ts";
import { CHAINS } from "../../test-support/chain/fixtures.ts";

const PAGE = 4_096;
const chains: Archived[] = [];
let archived: Archived;
let whole: string;
let names = 0;

beforeAll(async () => {
  for (const name of CHAINS) chains.push(await archiveFixture(name));
  archived = present(chains[0], "an item of chains");
  whole = join(archived.data, "node.sqlite");
  const database = openDatabase(whole);
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
});
afterAll(() => {
  for (const { remove } of chains) remove();
});

const inspect = (path: string, { deps } = archived) =>
  inspectDatabase(path, { blocks: { network: deps.network, forMs: 60_000 } });

function copyOf(alter: (path: string) => void): string {
  const path = join(archived.folder, `${names++}.sqlite`);
  copyFileSync(whole, path);
  alter(path);
  return path;
}

function write(path: string, bytes: Uint8Array, at: number): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** The same noise in every run of the test. */
function noise(length: number, seed: number): Buffer {
  let state = seed + 1;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    }),
  );
}

const alteredBy = (sql: string) =>
  copyOf((path) => {
    const database = openDatabase(path);
    database.execute(sql);
    database.close();
  });

test("A chain with transactions of every kind is intact, and all of its blocks are inspected.", () => {
  for (const chain of chains) {
    const path = join(chain.data, "node.sqlite");
    expect(inspect(path, chain)).toEqual({ inspected: chain.height - 1, blocks: chain.height });
  }
});

describe("noise of 4 KiB is found", () => {
  test.each([0, 1, 100, 2_048, 4_095])(
    "Noise of 4 KiB is found in each page, from its byte %i on.",
    (offset) => {
      const pages = Math.floor(statSync(whole).size / PAGE) - 1;
      const found: boolean[] = [];
      for (let page = 0; page < pages; page += 3) {
        const path = copyOf((path) => write(path, noise(PAGE, page), page * PAGE + offset));
        found.push(inspect(path).damage !== undefined);
      }
      expect(found.length).toBeGreaterThan(20);
      // Free pages lose nothing.
      expect(found.filter(Boolean).length / found.length).toBeGreaterThan(0.95);
    },
  );

  test("Noise of 4 KiB is found in a truncated file.", () => {
    const path = copyOf((path) => write(path, noise(3 * PAGE, 1), statSync(whole).size - 3 * PAGE));
    expect(inspect(path).damage).toMatch(/\w/);
  });
});

// A file whose first bytes cannot be read.
test.skipIf(process.platform !== "linux")("A failed read is an error, not damage.", () => {
  expect(() => inspect("/proc/self/mem")).toThrow(
    expect.objectContaining({ code: expect.stringMatching(/^SQLITE_IOERR/) }),
  );
});

test.each([
  ["blocks", "header"],
  ["transactions", "bytes"],
])("The inspection finds any altered bit of %s.%s.", (table, column) => {
  const database = openDatabase(whole, { readonly: true });
  const values = database
    .prepare<{ height: number; value: Uint8Array }>(
      `SELECT height, ${column} AS value FROM ${table} WHERE height > 1 GROUP BY height`,
    )
    .all();
  database.close();
  expect(values.length).toBeGreaterThan(10);
  for (const [index, { height, value }] of values.entries()) {
    const altered = Buffer.from(value);
    altered[(index * 31) % value.length] =
      present(altered[(index * 31) % value.length], "an item of altered") ^ (1 << (index % 8));
    const path = copyOf((path) => {
      const database = openDatabase(path);
      database.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ?`).run(altered, value);
      database.close();
    });
    expect(inspect(path).damage).toMatch(new RegExp(`^table blocks: block ${height}: `));
  }
});

test.each([
  ["blocks", "UPDATE blocks SET reward = reward + 1 WHERE height = 5"],
  ["blocks", "UPDATE blocks SET generator = generator + 1000"],
  [
    "blocks",
    "UPDATE blocks SET generator = (SELECT generator FROM blocks WHERE height = 1) WHERE height = 7",
  ],
  ["blocks", "DELETE FROM blocks WHERE height = 5"],
  ["generators", "UPDATE generators SET public_key = CAST(public_key || x'00' AS BLOB)"],
  ["blocks", "DELETE FROM transactions WHERE height > 1"],
  ["transactions", "UPDATE transactions SET sender = sender + 1000 WHERE height > 1"],
  ["transactions", "UPDATE transactions SET recipient = recipient + 1000 WHERE height > 1"],
  ["transactions", "UPDATE transactions SET id = substr(id, 2) WHERE height > 1"],
  ["senders", "UPDATE senders SET public_key = CAST(public_key || x'00' AS BLOB)"],
  ["recipients", "UPDATE recipients SET address = address || '!'"],
  ["wallets", "UPDATE wallets SET attributes = '{' || attributes"],
  ["wallets", "UPDATE wallets SET vote = '02' WHERE address = (SELECT MIN(address) FROM wallets)"],
  ["rounds", "UPDATE rounds SET delegates = substr(delegates, 2)"],
  ["undo", "UPDATE undo SET changes = CAST(x'7D' || changes AS BLOB)"],
  ["fact_tiles", "UPDATE fact_tiles SET hashes = CAST(hashes || x'00' AS BLOB)"],
  ["property_parts", "UPDATE property_parts SET number = -1"],
  ["unik_rows", "INSERT INTO unik_rows VALUES (CAST(x'70' || zeroblob(64) AS BLOB), CAST('{' AS BLOB))"],
  [
    "unik_rows",
    "UPDATE unik_rows SET value = CAST('0' || value AS BLOB) WHERE hex(substr(key, 1, 1)) = '6F'",
  ],
  [
    "unik_rows",
    "UPDATE unik_rows SET value = CAST(value || x'00' AS BLOB) WHERE hex(substr(key, 1, 1)) = '73'",
  ],
  ["unik_roots", "UPDATE unik_roots SET root = substr(root, 2)"],
  ["history_wallets", "INSERT INTO history_wallets SELECT address, 5, balance, NULL, 1 FROM wallets"],
  ["history_records", "INSERT INTO history_records SELECT 0, address, 5, 0, 0, 0, '{' FROM wallets"],
  ["blocks", "UPDATE blocks SET transactions_up_to = transactions_up_to + 1 WHERE height = 6"],
])("The inspection finds rows of %s that this program does not write: %s.", (table, sql) => {
  const { damage } = inspect(alteredBy(sql));
  expect(damage).toMatch(new RegExp(`^table ${table}: `));
});

test("The inspection reads pages and rows without a network.", () => {
  expect(inspectDatabase(whole)).toEqual({ inspected: 0, blocks: 0 });
  expect(inspectDatabase(alteredBy("UPDATE rounds SET delegates = x'00'")).damage).toMatch(/^table rounds/);
});

test("An invalid file is damaged, a missing one is an error.", () => {
  expect(inspect(copyOf((path) => write(path, noise(PAGE, 7), 0))).damage).toMatch(/SQLITE_NOTADB/);
  expect(() => inspect(join(archived.folder, "nothing"))).toThrow();
});

test("The process that inspects ends with its node, in the middle of a read.", async () => {
  // Without a writer, opening it for reading does not return.
  const path = join(archived.folder, "endless.sqlite");
  execFileSync("mkfifo", [path]);
  const child = fork(fileURLToPath(new URL("../../src/archive/integrity/child.ts", import.meta.url)));
  const threads = () =>
    readdirSync(`/proc/${child.pid}/task`).map((id) =>
      readFileSync(`/proc/${child.pid}/task/${id}/comm`, "utf8").trim(),
    );
  child.send({ path, files: present(presets.livenet), forMs: 1_000 });
  await expect.poll(threads).toContain("WorkerThread");
  child.disconnect();
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});

/** Chains of earlier versions in snapshots: copied in their schema, and migrated. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { TABLE_NAMES } from "@uniknode/ledger";
import { expect, test } from "vitest";
import { copyChain } from "../../src/archive/copy.ts";
import { stateDigest } from "../../src/archive/digest.ts";
import { createBlockStore } from "../../src/store/chain/blocks.ts";
import { isEarlierSchema, schemaText } from "../../src/store/conversion/schema.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { fillHoldings, migrate, openReader } from "../../src/store/engine/migrations.ts";
import { createShownAttributes } from "../../src/store/state/holdings.ts";
import { createRoundStore } from "../../src/store/state/rounds.ts";
import type { WebhookFields } from "../../src/webhooks/model/webhook.ts";
import { createWebhookStore } from "../../src/webhooks/sqlite/webhooks.ts";
import {
  blocksOf,
  CHAINS,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { createForkingChain } from "../../test-support/chain/forking.ts";

test("A database of the first version is copied with its chain, and only with it.", () => {
  const { path: folder, remove } = temporaryFolder();
  execFileSync("tar", ["-xzf", join(import.meta.dirname, "../upgrade/folders/0.1.0.tar.gz"), "-C", folder]);
  const [from, to] = [join(folder, "data/node.sqlite"), join(folder, "copy.sqlite")];
  const source = openDatabase(from, { readonly: true });
  const digest = stateDigest(source);
  const head = source.prepare<{ id: string }>("SELECT id FROM blocks ORDER BY height DESC LIMIT 1").get();
  source.close();

  copyChain(from, to);

  const copy = openReader(to);
  expect(stateDigest(copy)).toBe(digest);
  expect(createBlockStore(copy).head()).toMatchObject({ height: 12, id: head?.id });
  expect(createRoundStore(copy).read(1)?.delegates.length).toBe(6);
  expect(copy.prepare("SELECT count(*) AS n FROM webhooks").get()).toEqual({ n: 0 });
  const types = copy.prepare("SELECT sum(transactions) AS n FROM type_totals").get();
  expect(types).toEqual(copy.prepare("SELECT count(*) AS n FROM transactions").get());
  copy.close();
  remove();
});

const WEBHOOK: WebhookFields = {
  ...{ event: "block.applied", events: [], target: "https://receiver.example/hook", enabled: true },
  conditions: "[]",
  match: "any",
  order: "parallel",
  ...{ confirmations: 0, proof: false },
};

/** Returns a database with the schema of the baseline, before its first migration. */
async function openBaseline(path: string): Promise<Database> {
  const { forge, transfer, close } = createForkingChain(path);
  await forge();
  for (let amount = 1n; amount < 5n; amount++) await forge([transfer(0, amount)]);
  await close();
  const database = openDatabase(path);
  createWebhookStore(database).insert(WEBHOOK, "5".repeat(64));
  database.execute(
    `ALTER TABLE webhooks DROP COLUMN with_proof; ALTER TABLE events DROP COLUMN time_ms;
     ALTER TABLE unconfirmed_events DROP COLUMN time_ms; ALTER TABLE contents DROP COLUMN time_ms; DELETE FROM migrations WHERE name > '021';
     DROP TABLE unik_map; DROP TABLE unik_rows; DROP TABLE unik_before; DROP TABLE unik_roots;
     DROP TABLE history_blocks; DROP TABLE history_wallets; DROP TABLE history_records; DROP TABLE holdings; DROP TABLE state_totals;
     DROP INDEX transactions_token; DROP TABLE property_parts; DROP TRIGGER properties_inserted; DROP TRIGGER properties_deleted`,
  );
  expect(isEarlierSchema(schemaText(database, "main"))).toBe(true);
  return database;
}

test("A database of the baseline is migrated, and a snapshot of it is restored.", async () => {
  const { path: folder, remove } = temporaryFolder();
  const [from, to] = [join(folder, "baseline.sqlite"), join(folder, "copy.sqlite")];
  const baseline = await openBaseline(from);
  const digest = stateDigest(baseline);
  copyChain(from, to);
  const copy = openReader(to);
  expect([stateDigest(copy), createBlockStore(copy).head()?.height]).toEqual([digest, 6]);
  copy.close();

  migrate(baseline);
  expect(stateDigest(baseline)).toBe(digest);
  expect(createWebhookStore(baseline).find(1)).toMatchObject(WEBHOOK);
  baseline.close();
  remove();
});

/** Numbers of tables in undo records. */
const WALLETS = 100;
const HOLDINGS = TABLE_NAMES.indexOf("holdings");

/** Returns the rows of wallets and holdings as text. */
const heldRows = (database: Database) =>
  ["wallets", "holdings"].map((table) =>
    JSON.stringify(database.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).all(), big),
  );

test.each(["chain-random-1"])(
  "Undo records of %s in their earlier form, with everything that a wallet held, restore each state.",
  async (name) => {
    const { path: folder, remove } = temporaryFolder();
    const content = readChain(name);
    const opened = openChain(content, join(folder, "node.sqlite"));
    const { chain, database } = opened;
    const blocks = blocksOf(content);
    const states: string[][] = [];
    const shown = createShownAttributes(database);
    const undo = database.prepare<{ changes: Uint8Array }>("SELECT changes FROM undo WHERE height = ?");
    const change = database.prepare("UPDATE undo SET changes = ? WHERE height = ?");
    for (const block of blocks) {
      states.push(heldRows(database));
      // As the program before wrote the records of the next block: all attributes of the wallets, as they are now.
      const before = new Map<string, string>();
      const all = database
        .prepare<{ address: string; attributes: string }>("SELECT address, attributes FROM wallets")
        .all();
      for (const { address, attributes } of all) before.set(address, shown(address, attributes));
      await chain.accept([block]);
      const { height } = chain.head();
      const rows: [number, string, ...unknown[]][] = JSON.parse(
        Buffer.from(undo.get(height)?.changes ?? []).toString(),
      );
      const earlier = rows.flatMap(([number, key, ...members]) => {
        if (number === HOLDINGS) return [];
        if (number !== WALLETS) return [[number, key, ...members]];
        const [balance, nonce, , ...publicKey] = members;
        return [
          members.length === 0
            ? [0, key]
            : [0, key, balance, nonce, JSON.parse(before.get(key) ?? "{}"), ...publicKey],
        ];
      });
      change.run(Buffer.from(JSON.stringify(earlier)), height);
    }
    for (let height = blocks.length; height > 0; height--) {
      await chain.revertTo(height);
      expect(heldRows(database)).toEqual(states[height - 1]);
    }
    await opened.close();
    remove();
  },
);

const big = (_key: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);

test.each(CHAINS)(
  "What the wallets of %s hold is moved from their attributes, where it was, to rows.",
  async (name) => {
    const { path: folder, remove } = temporaryFolder();
    const content = readChain(name);
    const opened = openChain(content, join(folder, "node.sqlite"));
    await opened.chain.accept(blocksOf(content));
    await opened.close();
    const database = openDatabase(join(folder, "node.sqlite"));
    const [rows, digest] = [heldRows(database), stateDigest(database)];
    const shown = createShownAttributes(database);
    const change = database.prepare("UPDATE wallets SET attributes = ? WHERE address = ?");
    const wallets = database.prepare<{ address: string; attributes: string }>(
      "SELECT address, attributes FROM wallets",
    );
    for (const { address, attributes } of wallets.all()) change.run(shown(address, attributes), address);
    database.execute("DELETE FROM holdings");
    expect(stateDigest(database)).toBe(digest);
    fillHoldings(database);
    expect(heldRows(database)).toEqual(rows);
    // A conversion that was killed repeats it.
    fillHoldings(database);
    expect(heldRows(database)).toEqual(rows);
    database.close();
    remove();
  },
);

test.each([
  ["without migrations", "DROP TABLE migrations"],
  ["with a trigger", "CREATE TRIGGER mine AFTER INSERT ON blocks BEGIN DELETE FROM wallets; END"],
  ["with a view in place of its migrations", "DROP TABLE migrations; CREATE VIEW migrations AS SELECT 1"],
])("A database of the first version %s is refused.", (_what, sql) => {
  const { path: folder, remove } = temporaryFolder();
  execFileSync("tar", ["-xzf", join(import.meta.dirname, "../upgrade/folders/0.1.0.tar.gz"), "-C", folder]);
  const path = join(folder, "data/node.sqlite");
  const database = openDatabase(path);
  database.execute(sql);
  database.close();
  expect(() => copyChain(path, join(folder, "copy.sqlite"))).toThrow(
    expect.objectContaining({ code: "ARCHIVE_FOREIGN" }),
  );
  remove();
});

import type { Attributes, Change, Wallet } from "@uniknode/ledger";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { applyDelta, deltaBetween } from "../../../src/store/history/delta.ts";
import { createHistoryReader } from "../../../src/store/history/reader.ts";
import { openHistory } from "../../../src/store/history/writer.ts";
import { attributesToJson } from "../../../src/store/state/json.ts";

test("A difference restores the earlier text, and never stores half of a character.", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "€", "😀", "😁", "🀀") });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const delta = deltaBetween(before, after);
      expect(applyDelta(after, delta)).toBe(before);
      expect(delta.middle.isWellFormed()).toBe(true);
    }),
  );
});

const ADDRESS = "a".repeat(34);
const idOf = (index: number) => index.toString(16).padStart(64, "0");

const walletWith = (tokens: number): Wallet => ({
  address: ADDRESS,
  balance: 5n,
  nonce: 1n,
  attributes: {
    tokens: Object.fromEntries(Array.from({ length: tokens }, (_, index) => [idOf(index), { type: 1 }])),
  } as Attributes,
});

/** Returns a database with the history of a wallet that acquires one token in each block. */
function openWithTokens(blocks: number) {
  const database = openDatabase(":memory:");
  migrate(database);
  const history = openHistory(database, true);
  history?.begin(0);
  for (let height = 1; height <= blocks; height++) {
    const [before, after] = [walletWith(height - 1), walletWith(height)];
    history?.append(height, [{ table: "wallets", key: ADDRESS, before, after } satisfies Change]);
  }
  return database;
}

const textOf = ({ attributes }: Wallet) => JSON.stringify(attributesToJson(attributes));

test("Attributes that grow are stored as differences, of which a read combines a bounded number.", () => {
  const blocks = 300;
  const database = openWithTokens(blocks);
  const reader = createHistoryReader(database);
  for (let height = 0; height <= blocks; height++) {
    expect(reader.attributes(ADDRESS, height, textOf(walletWith(blocks)))).toBe(textOf(walletWith(height)));
  }
  const rows = database.prepare<{ step: number; size: number }>(
    "SELECT step, length(record) AS size FROM history_records ORDER BY height",
  );
  const steps = rows.all().map(({ step }) => step);
  expect(Math.max(...steps)).toBe(31);
  const total = rows.all().reduce((sum, { size }) => sum + size, 0);
  const whole = Array.from({ length: blocks }, (_, height) => textOf(walletWith(height)).length);
  expect(total).toBeLessThan(whole.reduce((sum, size) => sum + size, 0) / 20);
  database.close();
});

test("Every read searches a primary key.", () => {
  const database = openWithTokens(1);
  const statements = [
    "SELECT balance FROM history_wallets WHERE address = ? AND height > ? ORDER BY height LIMIT 1",
    "SELECT record FROM history_records WHERE kind = 0 AND key = ? AND height > ? ORDER BY height",
    "SELECT key FROM history_records WHERE kind = 2 AND key > ? AND key < ? ORDER BY key LIMIT 1",
    `SELECT height, timestamp FROM history_wallets CROSS JOIN blocks USING (height)
     WHERE address = ? AND height BETWEEN ? AND ? ORDER BY height DESC LIMIT ?`,
  ];
  for (const sql of statements) {
    const plan = database.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
    const details = plan.all(...Array(sql.split("?").length - 1).fill(1)).map(({ detail }) => detail);
    for (const detail of details) expect(detail).toMatch(/^SEARCH .* USING (INTEGER )?PRIMARY KEY/);
  }
  database.close();
});

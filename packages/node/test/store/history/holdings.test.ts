/** Earlier states of wallets that hold something. */
import {
  type Change,
  collapseAttributes,
  createMemoryState,
  holdingKey,
  type Tables,
} from "@uniknode/ledger";
import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { HistoryReader } from "../../../src/store/history/reader.ts";
import { openHistory } from "../../../src/store/history/writer.ts";
import { attributesToJson } from "../../../src/store/state/json.ts";
import { StateStore } from "../../../src/store/state/state.ts";
import { type ShownWallet, walletWrites } from "../../../test-support/store/holdings.ts";

const ADDRESS = "a".repeat(34);
const idOf = (index: number) => index.toString(16).padStart(64, "0");

const tokensText = (from: number, to: number) =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [idOf(from + index), { type: 1 }]));
const walletWith = (from: number, to: number): ShownWallet => ({
  address: ADDRESS,
  balance: 5n,
  nonce: 1n,
  attributes: { vote: "x", tokens: tokensText(from, to) },
});
const textOf = ({ attributes }: ShownWallet) => JSON.stringify(attributes);

/** Returns a database with the history of a wallet that acquires a token in each block, and then loses the first in each block. */
function openWithTokens(blocks: number) {
  const database = openDatabase(":memory:");
  migrate(database);
  const state = new StateStore(database, { cacheSize: 100 });
  const versions = Array.from({ length: 2 * blocks + 1 }, (_, height) =>
    walletWith(Math.max(0, height - blocks), Math.min(height, blocks) + 1),
  );
  const history = present(openHistory(database, true), "the history");
  state.write(walletWrites(present(versions[0], "the first version")));
  state.flush();
  history.begin(0);
  for (let height = 1; height < versions.length; height++) {
    const writes = walletWrites(present(versions[height], "a version"));
    const removed = walletWrites(present(versions[height - 1], "a version"))
      .filter(({ key }) => !writes.some((write) => write.key === key))
      .map((write) => ({ ...write, after: undefined }));
    const changes = [...writes, ...removed].map(
      (write) => ({ ...write, before: state.get(write.table, write.key) }) as Change,
    );
    history.append(
      height,
      changes.filter(({ before, after }) => JSON.stringify(before, big) !== JSON.stringify(after, big)),
    );
    state.write(changes);
    state.flush();
  }
  return { database, state, versions };
}
const big = (_key: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);

test("Every earlier version of a wallet contains what it held, in order, from rows that do not grow with it.", () => {
  const { database, state, versions } = openWithTokens(40);
  const reader = new HistoryReader(database);
  const { attributes } = state.get("wallets", ADDRESS) as Tables["wallets"];
  for (const [height, version] of versions.entries()) {
    expect(reader.attributes(ADDRESS, height, JSON.stringify(attributesToJson(attributes)))).toBe(
      textOf(version),
    );
  }
  const { longest } = present(
    database.prepare<{ longest: number }>("SELECT max(length(record)) AS longest FROM history_records").get(),
    "the longest record",
  );
  expect(longest).toBeLessThan(300);
  database.close();
});

test("Every read searches a primary key.", () => {
  const { database } = openWithTokens(1);
  const statements = [
    "SELECT balance FROM history_wallets WHERE address = ? AND height > ? ORDER BY height LIMIT 1",
    "SELECT record FROM history_records WHERE kind = 3 AND key = ? AND height > ? ORDER BY height LIMIT 1",
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

test("A wallet collapses to records that expand to it.", () => {
  const { attributes, holdings } = collapseAttributes(walletWith(0, 3).attributes);
  expect(attributes).toEqual({ vote: "x", tokens: { size: 3, first: idOf(0), last: idOf(2) } });
  expect(
    holdings.map(({ kind, id, holding }) => [holdingKey(ADDRESS, kind, id), holding.previous, holding.next]),
  ).toEqual([
    [holdingKey(ADDRESS, "tokens", idOf(0)), undefined, idOf(1)],
    [holdingKey(ADDRESS, "tokens", idOf(1)), idOf(0), idOf(2)],
    [holdingKey(ADDRESS, "tokens", idOf(2)), idOf(1), undefined],
  ]);
  expect(createMemoryState().get("holdings", holdingKey(ADDRESS, "tokens", idOf(0)))).toBeUndefined();
});

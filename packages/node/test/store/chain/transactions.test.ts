import { afterAll, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { recountTypes, TransactionStore } from "../../../src/store/chain/transactions.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { bob, carol, chain, cold } from "../../../test-support/http/chain.ts";
import { longer, more } from "../../../test-support/http/longer.ts";

const database = openDatabase(":memory:");
migrate(database);
afterAll(() => database.close());

const store = new TransactionStore(database);
for (const block of [...chain.blocks, ...longer.blocks]) store.append(block);

type Row = { id: string; version: number; vendorField: string | null; nonce: number; isAlive: number | null };
const rows = () =>
  database
    .prepare<Row>(
      `SELECT id_text AS id, version, vendor_field AS vendorField, nonce, is_alive AS isAlive FROM transactions
       ORDER BY height, sequence`,
    )
    .all();
const payees = () =>
  database
    .prepare<{ address: string; height: number }>(
      "SELECT address, height FROM payees JOIN recipients ON number = payee ORDER BY height, address",
    )
    .all();

test("The store writes the values by which lists are filtered.", () => {
  const byId = new Map(rows().map((row) => [row.id, row]));
  const [premine] = present(chain.blocks[0], "an item of chain.blocks").transactions;
  expect(byId.get(present(premine, "premine").data.id)).toMatchObject({
    version: 1,
    nonce: 1,
    vendorField: null,
  });
  expect(byId.get(chain.sent.hello.data.id)).toMatchObject({
    version: 2,
    nonce: 1,
    vendorField: "Hello 100% é✓",
    isAlive: null,
  });
});

test("The store records transactions that make a unik alive, mints only if a voucher pays.", () => {
  const alive = rows().filter(({ isAlive }) => isAlive === 1);
  expect(alive.map(({ id }) => id)).toEqual([more.update, more.mint, more.late].map(({ data }) => data.id));
});

const totals = () =>
  database.prepare<{ transactions: number }>("SELECT * FROM type_totals ORDER BY type_group, type").all();

test("The totals of the types equal a count, after every applied and reverted block.", () => {
  const blocks = [...chain.blocks, ...longer.blocks];
  const top = present(blocks.at(-1), "the last of blocks").header.height;
  for (let height = top; height > top - 3; height--) {
    store.removeFrom(height);
    const kept = totals();
    recountTypes(database);
    expect(kept).toEqual(totals());
  }
  for (const block of blocks.slice(-3)) store.append(block);
  const kept = totals();
  recountTypes(database);
  expect(kept).toEqual(totals());
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.every(({ transactions }) => transactions > 0)).toBe(true);
});

test("The store writes the payees of multi payments, each once, and removes them with their block.", () => {
  const first = [carol, cold].map(({ address }) => ({ address, height: 3 }));
  expect(payees()).toEqual([
    ...first.sort((a, b) => (a.address < b.address ? -1 : 1)),
    { address: carol.address, height: 5 },
  ]);
  const returned = store.sealedFrom(5, 1_000).map(({ data }) => data.id);
  expect(returned).toContain(more.twice.data.id);
  store.removeFrom(5);
  expect(payees()).toHaveLength(2);
  expect(store.storedIds([more.twice.data.id, chain.sent.large.data.id])).toEqual([chain.sent.large.data.id]);
  expect(chain.sent.large.data.senderPublicKey).toBe(bob.publicKey);
});

/** Queries of clients use an index, however long the chain is. */
import { afterAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { alice, bob, cold, heads, unik } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { ended, longer, more } from "../../test-support/http/longer.ts";

const files = openFixture({}, {}, longer);
const real = openDatabase(files.path, { readonly: true });

const HEAD = "SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT 1";
/** Statements since the last reset, with their parameters. */
const reads: { sql: string; parameters: unknown[]; rows?: number }[] = [];
const watched: Database = {
  ...real,
  prepare(sql, options) {
    const statement = real.prepare<never>(sql, options);
    return {
      ...statement,
      run: (...parameters) => statement.run(...parameters),
      iterate(...parameters) {
        reads.push({ sql, parameters });
        return statement.iterate(...parameters);
      },
      get(...parameters) {
        reads.push({ sql, parameters });
        return statement.get(...parameters);
      },
      all(...parameters) {
        const rows = statement.all(...parameters);
        reads.push({ sql, parameters, rows: rows.length });
        return rows;
      },
    };
  },
};
const fixture = openFixture({}, { database: watched });
afterAll(async () => {
  await fixture.close();
  await files.close();
  real.close();
});

const planOf = ({ sql, parameters }: (typeof reads)[number]): string[] =>
  real
    .prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...(parameters as string[]))
    .map(({ detail }) => detail);

/** Steps of the query plans that scan a table whose size grows. */
const walks = (): string[] =>
  reads
    // SQLite skips the scan that the plan of such a statement names.
    .filter(({ sql }) => !/WHERE \(*FALSE\)*(?: ORDER BY| LIMIT|$)/.test(sql.replace(/\s+/g, " ").trim()))
    .flatMap((read) =>
      planOf(read)
        // The head is the end of the scan along all heights.
        .filter((detail) => /^SCAN (blocks|transactions|payees|wallets|tokens|entries)/.test(detail))
        .filter((detail) => !(detail === "SCAN blocks" && /ORDER BY height DESC LIMIT 1$/.test(read.sql))),
    );

test.each([
  ["/blocks"],
  ["/blocks?page=2&limit=1"],
  ["/blocks?orderBy=timestamp:asc&offset=2"],
  [`/blocks?id=${heads.third.id}`],
  [`/blocks?previousBlock=${heads.third.id}`],
  ["/blocks?id=1234567890"],
  [`/blocks?id=${heads.third.id.toUpperCase()}`],
  ["/blocks?timestamp=16"],
  [`/blocks?generatorPublicKey=${bob.publicKey}&totalFee=0`],
  [`/blocks/${heads.third.id}/transactions`],
  [`/delegates/${unik.bob}/blocks`],
  [`/delegates/${unik.bob}/voters`],
  [`/transactions?id=${more.update.data.id}`],
  [`/transactions?id=${more.update.data.id.toUpperCase()}`],
  ["/transactions?blockId=1234567890"],
  ["/blockchain/activity"],
  ["/blockchain/identifiers/12345"],
  [`/transactions?blockId=${heads.third.id}&type=0`],
  ["/transactions?timestamp=16&amount=5"],
  ["/transactions?type=0"],
  ["/transactions?typeGroup=2001"],
  [`/transactions?senderPublicKey=${alice.publicKey}&type=0`],
  [`/transactions?senderId=${alice.address}&recipientId=${cold.address}`],
  [`/transactions?recipientId=${alice.address}&type=0`],
  [`/wallets/${alice.address}/transactions`],
  [`/wallets/${alice.address}/transactions?type=0&orderBy=amount:asc`],
  [`/wallets/${alice.address}/transactions/sent?type=0`],
  [`/wallets/${alice.address}/transactions/received?fee=1`],
  [`/wallets/${alice.address}/votes`],
  [`/wallets/${alice.address}/locks`],
  [`/wallets/${alice.address}/uniks`],
  [`/wallets?vote=${bob.publicKey}`],
  ["/wallets?username=genesis_1"],
  ["/votes"],
  ["/locks"],
  [`/locks/${more.first.data.id}`],
  ["/entities"],
  [`/entities/${more.entity.data.id}`],
  ["/rounds/2/delegates"],
  [`/uniks/${unik.bob}`],
  ["/blocks/search", { height: { from: 2, to: 3 }, totalFee: { from: 1 } }],
  ["/blocks/search", { timestamp: { from: 1 } }],
  ["/transactions/search", { addresses: [alice.address, bob.address], type: 0 }],
  ["/transactions/search", { timestamp: { from: 1, to: 16 }, vendorField: "o" }],
  ["/transactions/search", { asset: { votes: [] } }],
  ["/wallets/search", { addresses: [alice.address], lockedBalance: { from: 1 } }],
  ["/wallets/search", { balance: { from: 1, to: 5 } }],
  ["/locks/unlocked", { ids: [ended.claimed] }],
  ["/uniks/search", { id: [unik.bob] }],
] as [string, object?][])("An index looks up %s %j.", async (path, body) => {
  reads.length = 0;
  const url = `/api${path}`;
  const response = await (body ? fixture.post(url, body) : fixture.get(url));
  expect(response.statusCode).toBe(200);
  // Besides the head, which concurrent requests read once.
  expect(reads.filter(({ sql }) => sql !== HEAD).length).toBeGreaterThan(0);
  expect(walks()).toEqual([]);
});

test.each([
  "/blocks/12345678901234567890",
  `/transactions/${"A".repeat(64)}`,
  `/transactions/${"a".repeat(64)}`,
  `/transactions/${"A".repeat(64)}/proof`,
])("The database scans nothing for %s, which does not exist.", async (path) => {
  reads.length = 0;
  expect((await fixture.get(`/api${path}`)).statusCode).toBe(404);
  expect(walks()).toEqual([]);
});

test.each(["", "?limit=1&page=2", "?orderBy=id:desc"])(
  "The database sorts no uniks of a wallet: %s.",
  async (query) => {
    reads.length = 0;
    expect((await fixture.get(`/api/wallets/${alice.address}/uniks${query}`)).json().meta.totalCount).toBe(2);
    const steps = reads.flatMap(planOf);
    expect(steps.some((step) => step.includes("INDEX tokens_owner (owner=?"))).toBe(true);
    expect(steps.filter((step) => step.includes("TEMP B-TREE"))).toEqual([]);
  },
);

test("The database reads the rows of a page of properties, and one more.", async () => {
  for (const parameters of ["limit=1", "limit=1&page=2", "limit=1&cursor=start"]) {
    reads.length = 0;
    const response = await fixture.get(`/api/uniks/${unik.alice}/properties?${parameters}`);
    expect(response.json().meta).toMatchObject({ count: 1, totalCount: 14 });
    const ofProperties = reads.filter(({ sql }) => sql.includes("FROM properties"));
    expect(Math.max(...ofProperties.map(({ rows = 0 }) => rows))).toBeLessThanOrEqual(2);
  }
});

// Most wallets are alike: they have sent nothing.
test.each([
  ["/wallets?orderBy=nonce:asc", "wallets_nonce ((nonce,address)>(?,?))"],
  ["/wallets?orderBy=nonce:desc", "wallets_nonce ((nonce,address)<(?,?))"],
  ["/wallets?orderBy=balance:desc", "wallets_balance ((balance,address)<(?,?))"],
  ["/uniks?orderBy=ownerId:asc", "tokens_owner ((owner,id)>(?,?))"],
])("The database enters the index of %s at the end of the previous page.", async (path, entered) => {
  const first = await fixture.get(`/api${path}&limit=1&cursor=start`);
  reads.length = 0;
  await fixture.get(`/api${path}&limit=1&cursor=${first.json().meta.nextCursor}`);
  expect(reads.flatMap(planOf).filter((detail) => detail.includes(entered))).toHaveLength(1);
});

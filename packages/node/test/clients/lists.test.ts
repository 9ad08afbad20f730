/** Every list of `@arkecosystem/client` 1.1, page by page, until `meta.next` ends. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { alice, chain, unik } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { ended, longer } from "../../test-support/http/longer.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { Connection, call, type Page } from "./libraries.ts";

const fixture = openFixture({}, {}, longer);
let port: number;
beforeAll(async () => {
  ({ port } = await fixture.listen());
});
afterAll(() => fixture.close());

const { bob } = unik;
const ids = [ended.claimed, ended.refunded];
const lists: [resource: string, name: string, ...given: unknown[]][] = [
  ["blocks", "all"],
  ["blocks", "transactions", chain.blocks.length - 1],
  ["blocks", "search", { height: { from: 1 } }],
  ["delegates", "all"],
  ["delegates", "blocks", bob],
  ["delegates", "voters", bob],
  ["delegates", "search", { approval: { from: 0 } }],
  ["locks", "all"],
  ["locks", "search", {}],
  ["locks", "unlocked", { ids }],
  ["peers", "all"],
  ["transactions", "all"],
  ["transactions", "allUnconfirmed"],
  ["transactions", "search", { addresses: [alice.address] }],
  ["votes", "all"],
  ["wallets", "all"],
  ["wallets", "top"],
  ["wallets", "search", { balance: { from: 0 } }],
  ["wallets", "transactions", alice.address],
  ["wallets", "transactionsSent", alice.publicKey],
  ["wallets", "transactionsReceived", alice.address],
  ["wallets", "votes", alice.address],
  ["wallets", "locks", alice.address],
];

/** Lists of which this chain has one row. */
const isVotes = (resource: string, name: string) => resource === "votes" || name === "votes";

describe.each(["/api", "/api/v2"])("%s", (prefix) => {
  test.each(lists)("%s.%s", async (resource, name, ...given) => {
    const connection = new Connection(`http://127.0.0.1:${port}${prefix}`).withOptions({ timeout: WAIT_MS });
    const ask = async (page: number, limit: number) => {
      const { status, body } = await call<Page>(connection, resource, name, ...given, { page, limit });
      expect(status).toBe(200);
      return body;
    };

    const rows: unknown[] = [];
    for (let page = 1, next: string | null = ""; next !== null; page += 1) {
      const { data, meta } = await ask(page, 1);
      rows.push(...data);
      next = meta.next;
    }
    const all = await ask(1, 100);
    expect(rows).toEqual(all.data);
    expect(rows).toHaveLength(all.meta.totalCount);
    expect(rows.length).toBeGreaterThan(isVotes(resource, name) ? 0 : 1);
  });
});

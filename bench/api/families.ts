/** Kinds of request, each with many different parameters, so that responses are not cached. */

import { present } from "../../packages/node/src/platform/present.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import type { Dataset } from "./dataset.ts";
import type { Request } from "./load.ts";

export type Family = { readonly name: string; readonly requests: readonly Request[] };

/** Requests of a family: their responses together exceed the cache of the node, however small they are. */
const COUNT = 100_000;
/** A prime number, far from the rows of a page. */
const STRIDE = 7_919;
const MAX_ROUNDS = 200;

const many = (path: (index: number) => string) => Array.from({ length: COUNT }, (_, index) => path(index));
/** Counts up and down, without repetition before all values were used. */
const scattered = (index: number, count: number) => (index * STRIDE) % count;
const oneOf = <T>(values: readonly T[], index: number) => present(values[scattered(index, values.length)]);
/** If there are few objects, meaningless characters after the query distinguish the rounds. */
const apart = (index: number, things: number) => "&".repeat(Math.floor(index / things) % MAX_ROUNDS);

const get = (name: string, path: (index: number) => string): Family => ({
  name,
  requests: many(path).map((path) => ({ method: "GET", path: `/api/v2/${path}` })),
});
const one = (name: string, things: readonly unknown[], path: (thing: unknown) => string): Family =>
  get(name, (index) => `${path(oneOf(things, index))}?${apart(index, things.length)}`);
const page = (rows: number, index: number) =>
  `offset=${1 + scattered(index, Math.max(rows - 100, 1))}${apart(index, Math.max(rows - 100, 1))}`;

export type FamilyOptions = {
  /** True for a chain that is measured at several heights: then lists have pages of the same size at each of them. */
  readonly isGrowing?: boolean;
};

export function familiesOf(dataset: Dataset, { isGrowing = false }: FamilyOptions = {}): Family[] {
  const { transactions, blocks, ids, addresses, tokens, busiest, received, transfers, senders } =
    readObjects(dataset);
  const heights = Array.from({ length: blocks - 1 }, (_, index) => 2 + index);
  return [
    // First, so that the program is warm for larger requests.
    get("blockchain", () => "blockchain"),
    one("transactions/{id}", ids, (id) => `transactions/${id}`),
    one("wallets/{id}", addresses, (address) => `wallets/${address}`),
    one("uniks/{id}", tokens, (id) => `uniks/${id}`),
    one("uniks/{id}/properties/{key}", tokens, (id) => `uniks/${id}/properties/type`),
    one("blocks/{height}", heights, (height) => `blocks/${height}`),
    get("transactions, any page", (index) => `transactions?${page(transactions, index)}`),
    get("transactions, the last thousands", (index) => `transactions?${page(5_000, index)}`),
    get("transactions of a type, any page", (index) => `transactions?type=0&${page(transfers, index)}`),
    get("blocks, any page", (index) => `blocks?${page(blocks, index)}`),
    get("wallets, any page", (index) => `wallets?${page(addresses.length, index)}`),
    get("uniks, any page", (index) => `uniks?${page(tokens.length, index)}`),
    ...(isGrowing
      ? [one("wallets/{id}/transactions/sent", senders, (address) => `wallets/${address}/transactions/sent`)]
      : [
          one("wallets/{id}/transactions", addresses, (address) => `wallets/${address}/transactions`),
          get(
            "the busiest wallet, any page",
            (index) => `wallets/${busiest}/transactions/received?${page(received, index)}`,
          ),
        ]),
    one("transactions of a block", heights, (height) => `blocks/${height}/transactions`),
    searchByAddress(addresses),
  ];
}

const searchByAddress = (addresses: readonly string[]): Family => ({
  name: "wallets/search by address",
  requests: many((index) => oneOf(addresses, index)).map((address) => ({
    path: "/api/v2/wallets/search",
    method: "POST" as const,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ addresses: [address] }),
  })),
});

/** Reads what the paths name. */
function readObjects({ path }: Dataset) {
  const database = openDatabase(path, { readonly: true });
  const column = <T extends number | string>(sql: string) =>
    database
      .prepare<{ value: T }>(sql)
      .all()
      .map(({ value }) => value);
  const count = (sql: string) => present(column<number>(`SELECT COUNT(*) AS value FROM ${sql}`)[0]);
  const [busiest] = column<string>(
    `SELECT address AS value FROM transactions JOIN recipients ON number = recipient
     GROUP BY recipient ORDER BY COUNT(*) DESC LIMIT 1`,
  );
  const transactions = count("transactions");
  const objects = {
    transactions,
    blocks: count("blocks"),
    ids: column<string>(
      `SELECT id_text AS value FROM transactions WHERE (height + sequence) % ${Math.ceil(transactions / (2 * COUNT))} = 0`,
    ),
    addresses: column<string>("SELECT address AS value FROM wallets"),
    tokens: column<string>("SELECT id AS value FROM tokens"),
    busiest,
    // Each of them sent at least a page of transactions.
    senders: column<string>("SELECT address AS value FROM wallets WHERE nonce >= 100"),
    received: count(`transactions JOIN recipients ON number = recipient WHERE address = '${busiest}'`),
    transfers: count("transactions WHERE type_group = 1 AND type = 0"),
  };
  database.close();
  return objects;
}

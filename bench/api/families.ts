/** Kinds of request, each as many different ones: nothing that is asked twice is worth being kept. */
import { openDatabase } from "../../packages/node/src/store/database.ts";
import type { Dataset } from "./dataset.ts";
import type { Request } from "./load.ts";

export type Family = { readonly name: string; readonly requests: readonly Request[] };

/** Requests of a family: the answers of all of them are more than the node keeps, however small they are. */
const COUNT = 100_000;

export function familiesOf({ path }: Dataset): Family[] {
  const database = openDatabase(path, { readonly: true });
  const column = <T extends number | string>(sql: string) =>
    database
      .prepare<{ value: T }>(sql)
      .all()
      .map(({ value }) => value);
  const count = (sql: string) => column<number>(`SELECT COUNT(*) AS value FROM ${sql}`)[0]!;
  let seed = 1;
  const draw = (below: number): number => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const many = (path: (index: number) => string) => Array.from({ length: COUNT }, (_, index) => path(index));
  const oneOf = <T>(values: readonly T[]) => values[draw(values.length)]!;
  /** Few things are told apart by parameters without a meaning. */
  const apart = (index: number) => `=${"&".repeat(index % 50)}`;
  const apartOf = (things: readonly unknown[], index: number) =>
    things.length < COUNT / 2 ? `?${apart(index)}` : "";

  const transactions = count("transactions");
  const blocks = count("blocks");
  const ids = column<string>(`SELECT id AS value FROM transactions LIMIT ${2 * COUNT}`);
  const addresses = column<string>("SELECT address AS value FROM wallets");
  const tokens = column<string>("SELECT id AS value FROM tokens");
  const [busiest] = column<string>(
    `SELECT recipient AS value FROM transactions WHERE recipient IS NOT NULL
     GROUP BY recipient ORDER BY COUNT(*) DESC LIMIT 1`,
  );
  const received = count(`transactions WHERE recipient = '${busiest}'`);
  const transfers = count("transactions WHERE type_group = 1 AND type = 0");
  database.close();

  const get = (name: string, path: (index: number) => string): Family => ({
    name,
    requests: many(path).map((path) => ({ method: "GET", path: `/api/v2/${path}` })),
  });
  const page = (rows: number) => `offset=${1 + draw(rows - 100)}`;
  const height = () => 2 + draw(blocks - 1);
  return [
    // First, so that the program is warm when more than this is asked.
    get("blockchain", () => "blockchain"),
    get("transactions/{id}", () => `transactions/${oneOf(ids)}`),
    get("wallets/{id}", (index) => `wallets/${oneOf(addresses)}${apartOf(addresses, index)}`),
    get("uniks/{id}", (index) => `uniks/${oneOf(tokens)}${apartOf(tokens, index)}`),
    get(
      "uniks/{id}/properties/{key}",
      (index) => `uniks/${oneOf(tokens)}/properties/type${apartOf(tokens, index)}`,
    ),
    get("blocks/{height}", (index) => `blocks/${height()}?${apart(index)}`),
    get("transactions, any page", () => `transactions?${page(transactions)}`),
    get("transactions, the last thousands", () => `transactions?${page(5_000)}`),
    get("transactions of a type, any page", () => `transactions?type=0&${page(transfers)}`),
    get("blocks, any page", (index) => `blocks?${page(blocks)}&${apart(index)}`),
    get("wallets, any page", () => `wallets?${page(addresses.length)}`),
    get("uniks, any page", () => `uniks?${page(tokens.length)}`),
    get("wallets/{id}/transactions", () => `wallets/${oneOf(addresses)}/transactions`),
    get("the busiest wallet, any page", () => `wallets/${busiest}/transactions/received?${page(received)}`),
    get("transactions of a block", (index) => `blocks/${height()}/transactions?${apart(index)}`),
    {
      name: "wallets/search by address",
      requests: many((index) => apart(index)).map((query) => ({
        path: `/api/v2/wallets/search?${query}`,
        method: "POST" as const,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ addresses: [oneOf(addresses)] }),
      })),
    },
  ];
}

/**
 * `npm run bench -- api [--transactions 1000000] [--seconds 3] [--connections 64]`
 *
 * Requests a second and the time of the slowest hundredth, by kind of request, on a made chain and on one with a tenth
 * of its rows. Each request of a kind asks for something else, so that nothing is answered out of memory; beside it
 * the same request again and again, and a bare HTTP server that answers a constant of the same size. The load comes
 * from this process, the servers are in another.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { openDatabase } from "../packages/node/src/store/database.ts";
import { type Dataset, loadDataset } from "./api/dataset.ts";

/** As far as it is used here. */
type Autocannon = (options: {
  url: string;
  connections: number;
  duration: number;
  setupClient: (client: { setRequests(requests: readonly Request[]): void }) => void;
}) => Promise<{
  requests: { average: number };
  latency: { p99: number };
  throughput: { average: number };
  non2xx: number;
  errors: number;
}>;
const autocannon = createRequire(import.meta.url)("autocannon") as Autocannon;

const { values } = parseArgs({
  options: {
    transactions: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
  },
});
const [transactions, seconds, connections] = [values.transactions, values.seconds, values.connections].map(
  Number,
) as [number, number, number];

type Request = { path: string; method: "GET" | "POST"; body?: string; headers?: Record<string, string> };
type Family = { readonly name: string; readonly requests: readonly Request[] };

/** Different requests of a family, and texts for each of them. */
const COUNT = 400;
const VARIANTS = 40;

function familiesOf({ path }: Dataset): Family[] {
  const database = openDatabase(path, { readonly: true });
  const column = (sql: string) =>
    database
      .prepare<{ value: string | number }>(sql)
      .all()
      .map(({ value }) => value);
  const spread = (table: string, value: string) => {
    const all = column(`SELECT ${value} AS value FROM ${table} LIMIT 40000`);
    const step = Math.max(1, Math.floor(all.length / COUNT));
    return all.filter((_, index) => index % step === 0).slice(0, COUNT);
  };
  const pagesOf = (count: number) =>
    Array.from({ length: COUNT }, (_, index) => 1 + Math.floor((index * (count / 100 - 1)) / COUNT));
  const [count] = column("SELECT COUNT(*) AS value FROM transactions") as [number];
  const [wallets] = column("SELECT COUNT(*) AS value FROM wallets") as [number];
  const [uniks] = column("SELECT COUNT(*) AS value FROM tokens") as [number];
  const [blocks] = column("SELECT COUNT(*) AS value FROM blocks") as [number];
  const ids = spread("transactions", "id");
  const addresses = spread("wallets", "address");
  const tokens = spread("tokens", "id");
  const [busiest] = column(
    "SELECT recipient AS value FROM transactions WHERE recipient IS NOT NULL GROUP BY recipient ORDER BY COUNT(*) DESC LIMIT 1",
  );
  database.close();
  const get = (name: string, paths: readonly string[]): Family => ({
    name,
    requests: paths.map((path) => ({ method: "GET", path: `/api/v2/${path}` })),
  });
  const heights = Array.from({ length: COUNT }, (_, index) => 2 + (index % (blocks - 1)));
  return [
    get(
      "transactions/{id}",
      ids.map((id) => `transactions/${id}`),
    ),
    get(
      "wallets/{id}",
      addresses.map((id) => `wallets/${id}`),
    ),
    get(
      "uniks/{id}",
      tokens.map((id) => `uniks/${id}`),
    ),
    get(
      "uniks/{id}/properties/{key}",
      tokens.map((id) => `uniks/${id}/properties/type`),
    ),
    get(
      "blocks/{height}",
      heights.map((height) => `blocks/${height}?transform=false`),
    ),
    get("blockchain", ["blockchain"]),
    get(
      "transactions, any page",
      pagesOf(count).map((page) => `transactions?page=${page}`),
    ),
    get(
      "transactions of a type, any page",
      pagesOf(count * 0.9).map((page) => `transactions?type=0&page=${page}`),
    ),
    get(
      "blocks, any page",
      pagesOf(blocks).map((page) => `blocks?page=${page}`),
    ),
    get(
      "wallets, any page",
      pagesOf(wallets).map((page) => `wallets?page=${page}`),
    ),
    get(
      "uniks, any page",
      pagesOf(uniks).map((page) => `uniks?page=${page}`),
    ),
    get(
      "wallets/{id}/transactions",
      addresses.map((id) => `wallets/${id}/transactions`),
    ),
    get(
      "the busiest wallet, any page",
      pagesOf(count * 0.08).map((page) => `wallets/${busiest}/transactions/received?page=${page}`),
    ),
    get(
      "transactions of a block",
      heights.map((height) => `blocks/${height}/transactions`),
    ),
    {
      name: "wallets/search by addresses",
      requests: addresses.map((address) => ({
        path: "/api/v2/wallets/search",
        method: "POST" as const,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ addresses: [address] }),
      })),
    },
  ];
}

type Figures = { rate: number; p99: number; size: number; failed: number };

async function shoot(port: number, requests: readonly Request[]): Promise<Figures> {
  let next = 0;
  const {
    requests: done,
    latency,
    throughput,
    non2xx,
    errors,
  } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    // Each connection asks for things of its own, from the first on.
    setupClient(client) {
      const share = Math.ceil(requests.length / connections);
      const first = (next++ * share) % requests.length;
      client.setRequests(requests.slice(first, first + share));
    },
  });
  return {
    rate: done.average,
    p99: latency.p99,
    size: Math.round(throughput.average / Math.max(done.average, 1)),
    failed: non2xx + errors,
  };
}

type Row = Figures & { readonly same: number; readonly bare: number };

function rowText(name: string, { size, rate, p99, same, bare, failed }: Row): string {
  const share = `${Math.round((100 * rate) / bare)} %`;
  return [name, size, Math.round(rate), p99, Math.round(same), Math.round(bare), share, failed].join(" | ");
}

async function measure(dataset: Dataset, families: readonly Family[]) {
  const child = fork(new URL("./api/server.ts", import.meta.url), [JSON.stringify(dataset)]);
  const [{ port, barePort }] = (await once(child, "message")) as [{ port: number; barePort: number }];
  const rows = new Map<string, Row>();
  console.log("request | bytes | requests/s | p99 ms | the same one/s | bare server/s | share | failed");
  for (const { name, requests } of families) {
    // The first head-wide figures are computed once for each block: not what is measured here.
    await shoot(port, requests.slice(0, 1));
    const same = await shoot(port, requests.slice(0, 1));
    // A page asked for once is kept for the head: parameters without a meaning make it another one.
    const unkept = requests.flatMap((request) =>
      Array.from({ length: VARIANTS }, (_, index) => ({
        ...request,
        path: `${request.path}${request.path.includes("?") ? "&" : "?"}=${"&".repeat(index)}`,
      })),
    );
    const figures = await shoot(port, name === "blockchain" ? requests : unkept);
    child.send(figures.size);
    await once(child, "message");
    const bare = await shoot(barePort, [{ method: "GET", path: "/" }]);
    rows.set(name, { ...figures, same: same.rate, bare: bare.rate });
    console.log(rowText(name, rows.get(name)!));
  }
  child.kill();
  return rows;
}

const sizes = [transactions / 10, transactions].map((count) => ({
  transactions: count,
  wallets: count / 10,
  uniks: count / 50,
}));
const [small, large] = await Promise.all(sizes.map(loadDataset));
console.log(`${connections} connections, ${seconds} s each`);
const many = await measure(large!, familiesOf(large!));
console.log("\nwith a tenth of the rows");
const few = await measure(small!, familiesOf(small!));
console.log("\nrequest | requests/s at a tenth, of those at the whole");
for (const [name, { rate }] of many)
  console.log(`${name} | ${Math.round((100 * few.get(name)!.rate) / rate)} %`);

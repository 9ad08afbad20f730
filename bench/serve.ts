/**
 * `npm run bench -- serve [--transactions 100000] [--seconds 3] [--connections 64] [--rounds 3] [--only blocks]`
 *
 * Compares API servers over PostgreSQL with the server of the node over the same generated chain: one server without shared
 * transactions, one with them, and three. They get the same requests in turns, so that other load of the machine affects all
 * of them; the table has the median of the rounds. CPU time is that of the servers, and that of PostgreSQL separately.
 */
import { createNetwork } from "@uniknode/protocol";
import { present } from "../packages/node/src/platform/present.ts";
import { buildMirror } from "../packages/node/test-support/mirror/build.ts";
import { connect, startPostgres } from "../packages/node/test-support/postgres/server.ts";
import { readArguments } from "../tools/arguments.ts";
import { loadDataset } from "./api/dataset.ts";
import { type Family, familiesOf } from "./api/families.ts";
import { type Load, type Request, shoot } from "./api/load.ts";
import { type Servers, startServers } from "./api/process.ts";
import { processorMsOf } from "./serve/processor-time.ts";

const { values } = readArguments("bench serve", {
  options: {
    transactions: { type: "string", default: "100000" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
  },
});
const load: Load = { seconds: Number(values.seconds), connections: Number(values.connections) };
const transactions = Number(values.transactions);

type Figures = {
  readonly perSecond: number;
  /** CPU time of the servers, and of PostgreSQL, for each response. */
  readonly serverUs: number;
  readonly databaseUs: number;
  readonly failed: number;
};

const dataset = await loadDataset({ transactions, wallets: transactions / 10, uniks: transactions / 50 });
const postgres = await startPostgres({ shared_buffers: "256MB", max_connections: "100" });
const url = await postgres.createDatabase("bench");
const connection = connect(url);
(await buildMirror(connection, dataset.path, createNetwork(dataset.files))).close();
await connection.query("VACUUM ANALYZE");
await connection.close();

const start = (count: number, isShared: boolean) =>
  Promise.all(Array.from({ length: count }, () => startServers(dataset, { mirror: { url, isShared } })));
const groups: readonly (readonly [name: string, servers: readonly Servers[]])[] = [
  ["node", [await startServers(dataset)]],
  ["one, not shared", await start(1, false)],
  ["one", await start(1, true)],
  ["three", await start(3, true)],
];

/** Each server gets its part of the connections. */
async function measure(servers: readonly Servers[], requests: readonly Request[]): Promise<Figures> {
  const part = { ...load, connections: Math.ceil(load.connections / servers.length) };
  const serversMs = async () => {
    const times = await Promise.all(servers.map((server) => server.processorMs()));
    return times.reduce((sum, ms) => sum + ms, 0);
  };
  const before = [await serversMs(), processorMsOf(postgres.pid())] as const;
  const shots = await Promise.all(servers.map(({ port }) => shoot(port, requests, part)));
  const after = [await serversMs(), processorMsOf(postgres.pid())] as const;
  const sum = (read: (shot: (typeof shots)[number]) => number) =>
    shots.reduce((total, shot) => total + read(shot), 0);
  const responses = sum((shot) => shot.responses);
  return {
    perSecond: sum((shot) => shot.perSecond),
    serverUs: (1_000 * (after[0] - before[0])) / responses,
    databaseUs: (1_000 * (after[1] - before[1])) / responses,
    failed: sum((shot) => shot.failed),
  };
}

const median = (numbers: readonly number[]): number =>
  present(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]);

async function compare({ name, requests }: Family): Promise<void> {
  // Memory of the servers, and plans of prepared statements.
  for (const [, servers] of groups) await measure(servers, requests);
  const rounds = groups.map(() => [] as Figures[]);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [index, [, servers]] of groups.entries()) {
      rounds[index]?.push(await measure(servers, requests));
    }
  }
  const ofNode = median(present(rounds[0]).map(({ perSecond }) => perSecond));
  for (const [index, [group]] of groups.entries()) {
    const figures = present(rounds[index]);
    const middle = (member: keyof Figures) => Math.round(median(figures.map((one) => one[member])));
    const share = `${Math.round((100 * middle("perSecond")) / ofNode)} %`;
    console.log(
      [
        name,
        group,
        middle("perSecond"),
        share,
        middle("serverUs"),
        middle("databaseUs"),
        middle("failed"),
      ].join(" | "),
    );
  }
}

console.log("request | server | requests/s | of the node | us of the server | us of PostgreSQL | failed");
for (const family of familiesOf(dataset)) {
  if (family.name.includes(values.only)) await compare(family);
}
for (const [, servers] of groups) for (const server of servers) server.stop();
await postgres.stop();

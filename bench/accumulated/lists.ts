/** Costs of requests whose responses depend on everything of a kind: wallets, uniks, delegates, locks, entities. */
import { copyFileSync, rmSync } from "node:fs";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Database, openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { countState } from "../../packages/node/src/store/engine/migrations.ts";
import { loadDataset, sender } from "../api/dataset.ts";
import { startServers } from "../api/process.ts";
import { addDelegates } from "./delegates.ts";

type Kind = {
  readonly add: (database: Database, count: number) => void;
  readonly paths: readonly string[];
};

const idOf = (number: number) => number.toString(16).padStart(64, "0");
const FIRST = 1_000_000;

function addHoldings(
  database: Database,
  kind: "entities" | "locks" | "tokens",
  count: number,
  value: string,
): void {
  const { address, publicKey } = sender(FIRST);
  const collection = { size: count, first: idOf(0), last: idOf(count - 1) };
  const attributes =
    kind === "locks" ? { htlc: { locks: collection, lockedBalance: `${count}` } } : { [kind]: collection };
  database
    .prepare("INSERT INTO wallets VALUES (?, ?, 0, 0, NULL, NULL, NULL, ?)")
    .run(address, publicKey, JSON.stringify(attributes));
  const holding = database.prepare("INSERT INTO holdings VALUES (?, ?, ?, ?, ?, ?)");
  const entry = database.prepare("INSERT INTO entries VALUES ('locks', ?, ?)");
  for (let number = 0; number < count; number++) {
    const [previous, next] = [
      number === 0 ? null : idOf(number - 1),
      number === count - 1 ? null : idOf(number + 1),
    ];
    holding.run(address, kind, idOf(number), previous, next, value);
    if (kind === "locks") entry.run(idOf(number), address);
  }
}

const lock = {
  ...{ amount: "1", recipientId: sender(1).address, timestamp: 100, secretHash: idOf(1) },
  expiration: { type: 1, value: 1_000_000_000 },
};

const KINDS: Readonly<Record<string, Kind>> = {
  wallets: {
    add(database, count) {
      const wallet = database.prepare("INSERT INTO wallets VALUES (?, NULL, ?, 0, NULL, NULL, NULL, '{}')");
      for (let index = 0; index < count; index++) wallet.run(`D${idOf(index)}`, 100 + index);
    },
    paths: ["/blockchain?", "/wallets?"],
  },
  uniks: {
    add(database, count) {
      const unik = database.prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)");
      const type = database.prepare("INSERT INTO properties VALUES (?, 'type', '1')");
      for (let index = 0; index < count; index++) {
        unik.run(idOf(index), sender(1).address, idOf(1), idOf(1));
        type.run(idOf(index));
      }
    },
    paths: ["/nfts/status?", "/uniks?"],
  },
  held: {
    add(database, count) {
      const { address } = sender(FIRST);
      addHoldings(database, "tokens", count, '{"type":1}');
      const unik = database.prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)");
      for (let index = 0; index < count; index++) unik.run(idOf(index), address, idOf(1), idOf(1));
    },
    paths: ["", "/uniks", "/transactions", "/votes"].map(
      (list) => `/wallets/${sender(FIRST).address}${list}?`,
    ),
  },
  delegates: {
    add: (database, count) => addDelegates(database, FIRST, count),
    paths: ["/delegates?", `/delegates/${sender(FIRST).address}?`, "/votes?"],
  },
  locks: {
    add: (database, count) => addHoldings(database, "locks", count, JSON.stringify(lock)),
    paths: [
      "/locks?",
      `/locks/${idOf(1)}?`,
      "/locks?orderBy=amount:desc&",
      `/wallets/${sender(FIRST).address}/locks?`,
    ],
  },
  entities: {
    add: (database, count) =>
      addHoldings(database, "entities", count, JSON.stringify({ type: 1, subType: 0, data: { name: "a" } })),
    paths: ["/entities?", `/entities/${idOf(1)}?`],
  },
};

const REPEATED = 50;

/** Measures the first request after a block, and further ones that are not cached, which ask for different pages. */
export async function measureLists(folder: string, name: string, count: number): Promise<void> {
  const { add, paths } = present(KINDS[name]);
  const dataset = await loadDataset({ transactions: 20_000, wallets: 2_000, uniks: 400 });
  const path = `${folder}/${name}-${count}.sqlite`;
  copyFileSync(dataset.path, path);
  const database = openDatabase(path);
  database.transaction(() => add(database, count), "process death");
  countState(database);
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  for (const requested of paths) {
    const servers = await startServers({ ...dataset, path });
    const ask = async (query: string) => {
      const response = await fetch(`http://127.0.0.1:${servers.port}/api/v2${requested}${query}`);
      await response.text();
      return response.status;
    };
    // Compiles what all requests need.
    for (let run = 0; run < 20; run++)
      await fetch(`http://127.0.0.1:${servers.port}/api/v2/peers/x`).catch(() => {});
    const measure = async (work: () => Promise<number>) => {
      const [before, startMs] = [await servers.threadMs(), performance.now()];
      const status = await work();
      const wallMs = performance.now() - startMs;
      return { status, wallMs, threadMs: (await servers.threadMs()) - before };
    };
    const first = await measure(() => ask(""));
    const further = await measure(async () => {
      for (let run = 0; run < REPEATED; run++) await ask(`${"&".repeat(500)}&${run}`);
      return 200;
    });
    const ms = (value: number) => `${value.toFixed(1)} ms`;
    console.log(
      `${count} ${name}: GET ${requested.slice(0, -1)} after a block ${ms(first.threadMs)} of the serving thread (${first.status} after ${ms(first.wallMs)}); further ones ${ms(further.threadMs / REPEATED)}`,
    );
    servers.stop();
  }
  rmSync(path);
}

/** Costs of requests whose responses depend on everything of a kind: wallets, uniks, delegates, locks, entities. */
import { copyFileSync, rmSync } from "node:fs";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Database, openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { countState } from "../../packages/node/src/store/state/totals.ts";
import { inventedHolding, inventHolder } from "../../packages/node/test-support/store/invented-holdings.ts";
import { loadDataset, sender } from "../api/dataset.ts";
import { startServers } from "../api/process.ts";
import { addDelegates } from "./delegates.ts";

type Kind = {
  readonly add: (database: Database, count: number) => void;
  readonly paths: readonly string[];
};

const FIRST = 1_000_000;

const holder = (database: Database, kind: "entities" | "locks" | "tokens", count: number) =>
  inventHolder(database, { ...sender(FIRST), holds: { [kind]: count } });

const KINDS: Readonly<Record<string, Kind>> = {
  wallets: {
    add(database, count) {
      const wallet = database.prepare("INSERT INTO wallets VALUES (?, NULL, ?, 0, NULL, NULL, NULL, '{}')");
      for (let index = 0; index < count; index++) wallet.run(`D${inventedHolding(index)}`, 100 + index);
    },
    paths: ["/blockchain?", "/wallets?"],
  },
  uniks: {
    add(database, count) {
      const unik = database.prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)");
      const type = database.prepare("INSERT INTO properties VALUES (?, 'type', '1')");
      for (let index = 0; index < count; index++) {
        unik.run(inventedHolding(index), sender(1).address, inventedHolding(1), inventedHolding(1));
        type.run(inventedHolding(index));
      }
    },
    paths: ["/nfts/status?", "/uniks?"],
  },
  held: {
    add: (database, count) => holder(database, "tokens", count),
    paths: ["", "/uniks", "/transactions", "/votes"].map(
      (list) => `/wallets/${sender(FIRST).address}${list}?`,
    ),
  },
  delegates: {
    add: (database, count) => addDelegates(database, FIRST, count),
    paths: ["/delegates?", `/delegates/${sender(FIRST).address}?`, "/votes?"],
  },
  locks: {
    add: (database, count) => holder(database, "locks", count),
    paths: [
      "/locks?",
      `/locks/${inventedHolding(1)}?`,
      "/locks?orderBy=amount:desc&",
      `/wallets/${sender(FIRST).address}/locks?`,
    ],
  },
  entities: {
    add: (database, count) => holder(database, "entities", count),
    paths: ["/entities?", `/entities/${inventedHolding(1)}?`],
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

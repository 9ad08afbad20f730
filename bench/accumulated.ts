/**
 * `npm run bench -- accumulated [holdings] [facts] [owners] [properties]`: costs that must not depend on what others have stored. Uniks sent
 * to and from a wallet that holds others; proofs of facts;
 * owners of 280 disclosed uniks before later transfers; pages of the properties of a unik, and `/node/status` beside them.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { replay } from "../packages/node/src/archive/import.ts";
import { Growth } from "../packages/node/src/facts/growth.ts";
import { SqliteFactReader } from "../packages/node/src/facts/sqlite/reader.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { createOwnerStore } from "../packages/node/src/store/chain/fact-lookups.ts";
import { TransactionStore } from "../packages/node/src/store/chain/transactions.ts";
import { type Database, openDatabase } from "../packages/node/src/store/engine/database.ts";
import { migrate } from "../packages/node/src/store/engine/migrations.ts";
import { measureDelegates } from "./accumulated/delegates.ts";
import { measureFees } from "./accumulated/fees.ts";
import { measureHoldings } from "./accumulated/holdings.ts";
import { measureLists } from "./accumulated/lists.ts";
import { loadDataset, seal, sender } from "./api/dataset.ts";
import { shoot } from "./api/load.ts";
import { startServers } from "./api/process.ts";
import { loadFixture } from "./fixture.ts";
import { openPipeline } from "./pipeline.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const isSelected = (part: string) => positionals.length === 0 || positionals.includes(part);
const folder = mkdtempSync(join(tmpdir(), "uniknode-accumulated-"));
process.once("exit", () => rmSync(folder, { recursive: true }));

const cpuUs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

/** Costs of the smallest size, by name. */
const smallest = new Map<string, number>();

/** Returns how many times the cost of the smallest size a cost is. */
function ratioText(name: string, cost: number): string {
  const first = smallest.get(name) ?? cost;
  smallest.set(name, first);
  return `${(cost / first).toFixed(2)} times the smallest`;
}

const idOf = (number: number) => number.toString(16).padStart(64, "0");

/** Proofs of any leaves among empty blocks, and among blocks of 100 transfers. */
async function measureFacts(): Promise<void> {
  const fixture = await loadFixture({ emptyBlocks: 10_000, fullBlocks: 200, transfersPerBlock: 100 });
  const path = join(folder, "facts.sqlite");
  const pipeline = openPipeline(path, fixture, { threads: availableParallelism() });
  await replay(pipeline.chain, fixture.blocks(), { targetHeight: 10_201 });
  await pipeline.close();
  await pipeline.verifier.close();
  const database = openDatabase(path);
  const growth = new Growth({ database, network: fixture.network, onTruncated: () => {} });
  const grown = process.cpuUsage();
  while (growth.step(Number.POSITIVE_INFINITY));
  const growUs = cpuUs(grown);
  const { size, height } = growth.figures();
  const bytes = present(
    database
      .prepare<{ marks: number; all: number }>(
        "SELECT sum(iif(name LIKE 'fact_sizes%', pgsize, 0)) AS marks, sum(pgsize) AS 'all' FROM dbstat WHERE name LIKE 'fact%'",
      )
      .get(),
  );
  console.log(
    `tree: ${size} leaves of ${height} blocks, ${(growUs / size).toFixed(1)} us and ${(bytes.all / size).toFixed(1)} bytes for each, ${(bytes.marks / size).toFixed(1)} of them marks`,
  );
  const reader = new SqliteFactReader(database, fixture.network);
  const measureUs = async (from: number, to: number, ofSize?: number) => {
    const runs = 500;
    const start = process.cpuUsage();
    for (let run = 0; run < runs; run++) await reader.inclusion(from + ((run * 7_919) % (to - from)), ofSize);
    return cpuUs(start) / runs;
  };
  const measure = async (from: number, to: number) => Math.round(1_000_000 / (await measureUs(from, to)));
  for (const round of ["first", "second"]) {
    console.log(
      `proofs of facts a second (CPU time, ${round} round): ${await measure(2_000, 9_000)} of empty blocks, ${await measure(12_500, size)} of blocks of 100 transfers`,
    );
  }
  for (const leaves of [100, 10_000]) {
    const us = await measureUs(0, leaves, leaves);
    console.log(`a proof in a tree of ${leaves} leaves: ${us.toFixed(0)} us, ${ratioText("proof", us)}`);
  }
  database.close();
}

/** Owners of 280 uniks after a block, with later transfers of other uniks on the chain.  */
function measureOwners(transfers: number): void {
  const database = openDatabase(":memory:");
  migrate(database);
  const [from, recipientId] = [sender(0), sender(1).address];
  const body = {
    version: 2 as const,
    network: 30,
    typeGroup: 2000,
    type: 2,
    fee: 1n,
    amount: 0n,
    recipientId,
  };
  const transactions = new TransactionStore(database);
  const insertToken = database.prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)");
  const disclosed = 280;
  database.transaction(() => {
    for (let number = 0; number < disclosed; number++)
      insertToken.run(idOf(number), recipientId, idOf(1), idOf(1));
    for (let height = 3, made = 0; made < transfers; height++) {
      const block = Array.from({ length: Math.min(disclosed, transfers - made) }, () => {
        const asset = { nft: { unik: { tokenId: idOf(disclosed + made) } } };
        return seal({ ...body, nonce: BigInt(++made), senderPublicKey: from.publicKey, asset });
      });
      const header = { id: idOf(height), height, previousBlock: idOf(height - 1) };
      transactions.append({ header, transactions: block } as never);
    }
  });
  const { ownerAfter } = createOwnerStore(database);
  const ask = () => {
    for (let number = 0; number < disclosed; number++)
      ownerAfter(idOf(number), { height: 2, sequence: number });
  };
  ask();
  const start = process.cpuUsage();
  ask();
  console.log(
    `owners of ${disclosed} disclosed uniks before ${transfers} transfers: ${(cpuUs(start) / 1_000).toFixed(1)} ms`,
  );
  database.close();
}

/** Adds properties to a unik. */
function addProperties(database: Database, unik: string, count: number): void {
  const insert = database.prepare("INSERT INTO properties VALUES (?, ?, ?)");
  database.transaction(() => {
    for (let number = 0; number < count; number++) {
      insert.run(
        unik,
        `usr/property/${number.toString().padStart(8, "0")}`,
        `value of the property ${number}`,
      );
    }
  }, "process death");
}

const CLIENTS = 8;

async function measureProperties(count: number): Promise<void> {
  const dataset = await loadDataset({ transactions: 20_000, wallets: 2_000, uniks: 400 });
  const path = join(folder, `properties-${count}.sqlite`);
  copyFileSync(dataset.path, path);
  const database = openDatabase(path);
  migrate(database);
  const { id } = present(database.prepare<{ id: string }>("SELECT id FROM tokens LIMIT 1").get());
  addProperties(database, id, count);
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  const servers = await startServers({ ...dataset, path });
  const pages = Math.max(1, Math.floor(count / 100));
  // Responses to long URLs are not cached.
  const uncached = `?${"&".repeat(500)}`;
  const requests = {
    "the first page": () => `/api/v2/uniks/${id}/properties${uncached}limit=100`,
    "any page": (run: number) =>
      `/api/v2/uniks/${id}/properties${uncached}page=${1 + ((run * 7_919) % pages)}`,
    "one property": (run: number) =>
      `/api/v2/uniks/${id}/properties/${encodeURIComponent(`usr/property/${(run % count).toString().padStart(8, "0")}`)}${uncached}`,
    "the unik": () => `/api/v2/uniks/${id}${uncached}`,
  };
  for (const [name, pathOf] of Object.entries(requests)) {
    const asked = Array.from({ length: 4_000 }, (_, run) => ({ path: pathOf(run), method: "GET" as const }));
    await shoot(servers.port, asked.slice(0, 100), { connections: CLIENTS, responses: 100 });
    let isRunning = true;
    const beside: number[] = [];
    const status = (async () => {
      while (isRunning) {
        const startMs = performance.now();
        await (await fetch(`http://127.0.0.1:${servers.port}/api/v2/node/status`)).text();
        beside.push(performance.now() - startMs);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const beforeMs = await servers.processorMs();
    const figures = await shoot(servers.port, asked, { connections: CLIENTS, seconds: 3 });
    const usedUs = (1_000 * ((await servers.processorMs()) - beforeMs)) / figures.responses;
    isRunning = false;
    await status;
    beside.sort((a, b) => a - b);
    console.log(
      `${count} properties, ${name}: ${Math.round(figures.perSecond)} requests/s, ${usedUs.toFixed(0)} us of CPU time each (${ratioText(name, usedUs)}), /node/status beside them ${present(beside[beside.length >> 1]).toFixed(1)} ms (highest ${present(beside.at(-1)).toFixed(1)} ms), ${figures.failed} failed`,
    );
  }
  servers.stop();
  rmSync(path);
}

/** Numbers of things that requests list or count. */
const LISTED = [
  ["wallets", [10_000, 1_000_000]],
  ["uniks", [10_000, 1_000_000]],
  ["held", [1_000, 100_000]],
  ["delegates", [100, 10_000]],
  ["locks", [1_000, 100_000]],
  ["entities", [1_000, 100_000]],
] as const;

if (isSelected("holdings"))
  for (const held of [100, 10_000, 1_000_000]) measureHoldings(join(folder, `${held}.sqlite`), held);
if (isSelected("delegates")) for (const registered of [100, 1_000, 10_000]) measureDelegates(registered);
for (const [kind, counts] of LISTED)
  if (isSelected("lists") || isSelected(kind))
    for (const count of counts) await measureLists(folder, kind, count);
if (isSelected("fees"))
  for (const count of [3_000, 300_000]) measureFees(join(folder, `fees-${count}.sqlite`), count);
if (isSelected("facts")) await measureFacts();
if (isSelected("owners")) for (const transfers of [1_680, 168_000]) measureOwners(transfers);
if (isSelected("properties")) for (const count of [100, 10_000, 1_000_000]) await measureProperties(count);

/**
 * `npm run bench -- open [--blocks N]`
 *
 * Fills a database with a long chain through the stores, and measures how long a node takes to open it and to read
 * the head, and then the time from the start of the process to its first response. Both must not depend on the number
 * of blocks.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Change, Round } from "@uniknode/ledger";
import {
  type BlockHeader,
  blockToJson,
  encodeHeader,
  fullIdOf,
  type HeaderFields,
  sha256,
} from "@uniknode/protocol";
import { Chain, DEFAULT_CHAIN_OPTIONS } from "../packages/node/src/chain/chain.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { BlockStore } from "../packages/node/src/store/chain/blocks.ts";
import { type Database, openDatabase } from "../packages/node/src/store/engine/database.ts";
import { migrate } from "../packages/node/src/store/engine/migrations.ts";
import { EventLog } from "../packages/node/src/store/events/event-log.ts";
import { StateStore, UndoStore } from "../packages/node/src/store/state/state.ts";
import { readArguments } from "../tools/arguments.ts";
import { loadFixture } from "./fixture.ts";

const { values } = readArguments("bench open", {
  options: { blocks: { type: "string", default: "1000000" } },
});
const target = Number(values.blocks);
const BLOCKS_IN_COMMIT = 10_000;
const WALLETS_PER_COMMIT = 500;

const fixture = await loadFixture({ emptyBlocks: 500, fullBlocks: 0, transfersPerBlock: 0 });
const { network, genesis } = fixture;
const folder = mkdtempSync(join(tmpdir(), "uniknode-open-"));
const dataFolder = join(folder, "data");
mkdirSync(dataFolder);
const path = join(dataFolder, "node.sqlite");

const openChain = (database: Database) =>
  new Chain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network,
    genesis,
    verifier: { verify: async () => [], close: async () => {} },
    events: new EventLog(database, { recordedNames: () => new Set() }),
    eventsOfFacts: () => [],
    eventsOfRevert: () => [],
    now: Date.now,
    onListenerError: () => {},
  });

/** Blocks in the form of the network; their generators and amounts do not matter for opening. */
function fill(database: Database, first: BlockHeader): void {
  const blocks = new BlockStore(database);
  const state = new StateStore(database, DEFAULT_CHAIN_OPTIONS);
  const undo = new UndoStore(database);
  const round: Round = present(state.get("rounds", "1"));
  const generators = round.order;
  let previous = first;
  for (let height = 2; height <= target; ) {
    database.transaction(() => {
      for (let count = 0; count < BLOCKS_IN_COMMIT && height <= target; count++, height++) {
        const fields: HeaderFields = {
          ...previous,
          height,
          timestamp: previous.timestamp + 8,
          previousBlock: previous.id,
          numberOfTransactions: 0,
          totalAmount: 0n,
          generatorPublicKey: present(generators[height % generators.length]),
        };
        const headerBytes = encodeHeader(fields, network);
        const id = fullIdOf(sha256(headerBytes));
        previous = { ...fields, ...id, previousBlockHex: fields.previousBlock };
        blocks.append({ header: previous, headerBytes });
        const number = Math.floor(height / generators.length) + 1;
        const changes: Change[] =
          height % generators.length === 0
            ? [
                {
                  table: "rounds",
                  key: `${number}`,
                  before: undefined,
                  after: { ...round, round: number, height },
                },
              ]
            : [];
        state.write(changes);
        undo.append(height, changes);
      }
      state.write(walletsFor(height));
      state.flush();
      undo.prune(height - DEFAULT_CHAIN_OPTIONS.undoDepth);
    });
  }
}

/** New wallets as a chain of this length would have. */
const walletsFor = (height: number): Change[] =>
  Array.from({ length: WALLETS_PER_COMMIT }, (_, index) => {
    const address = `bench-wallet-${height}-${index}`;
    const after = { address, balance: BigInt(height), nonce: 0n, attributes: {} };
    return { table: "wallets", key: address, before: undefined, after };
  });

const building = openDatabase(path);
migrate(building);
const start = performance.now();
fill(building, openChain(building).head());
building.close();
const filledSeconds = (performance.now() - start) / 1000;
console.log(
  `${target.toLocaleString("en")} blocks, ${Math.round(statSync(path).size / 1e6)} MB, made in ${filledSeconds.toFixed(0)} s`,
);

for (let round = 0; round < 3; round++) {
  const opening = performance.now();
  const database = openDatabase(path);
  migrate(database);
  const { height } = openChain(database).head();
  const ms = performance.now() - opening;
  database.close();
  if (height !== target) throw new Error(`the head is at ${height}`);
  console.log(`opened at height ${height} in ${ms.toFixed(1)} ms`);
}

const description = {
  network: fixture.files.network,
  milestones: fixture.files.milestones,
  exceptions: fixture.files.exceptions,
  genesisBlock: blockToJson(genesis),
};
for (const [name, content] of Object.entries(description)) {
  const text = JSON.stringify(content, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  writeFileSync(join(folder, `${name}.json`), text);
}

const PROGRAM = new URL("../packages/node/bin/uniknode.js", import.meta.url).pathname;
const RUN = ["run", "--network-dir", folder, "--data", dataFolder, "--http-port", "0", "--log-level", "warn"];

/** Milliseconds from the start of the process to its first response. */
async function startProcess(): Promise<number> {
  const starting = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...RUN], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const response = await fetch(`${url}/api/v2/blockchain`);
  const { data } = (await response.json()) as { data: { block: { height: number } } };
  const ms = performance.now() - starting;
  if (data.block.height !== target) throw new Error(`the API is at height ${data.block.height}`);
  child.kill("SIGTERM");
  await once(child, "exit");
  return ms;
}

for (let round = 0; round < 5; round++) {
  console.log(`process started and first response received in ${(await startProcess()).toFixed(0)} ms`);
}
rmSync(folder, { recursive: true, force: true });

/**
 * `npm run bench -- sync [--empty N] [--blocks N] [--transfers N] [--sources N]`
 *
 * A fresh node fetches a generated chain over sockets from other nodes of this kind, all of them processes on this
 * machine. The ratio to `replay` compares with the same blocks read from a file by the same pipeline.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { blockToJson } from "@uniknode/protocol";
import { createChain, DEFAULT_CHAIN_OPTIONS } from "../packages/node/src/chain/chain.ts";
import { replay } from "../packages/node/src/chain/replay.ts";
import { createVerifier } from "../packages/node/src/chain/verifier.ts";
import { openDatabase } from "../packages/node/src/store/database.ts";
import { createEventLog } from "../packages/node/src/store/events.ts";
import { migrate } from "../packages/node/src/store/migrations.ts";
import { type Running, spawnUniknode } from "../packages/node/test/process/uniknode.ts";
import { type Fixture, loadFixture } from "./fixture.ts";

const { values } = parseArgs({
  options: {
    empty: { type: "string", default: "100000" },
    blocks: { type: "string", default: "2000" },
    transfers: { type: "string", default: "50" },
    sources: { type: "string", default: "1" },
  },
});
const emptyBlocks = Number(values.empty);
const fullBlocks = Number(values.blocks);
const transfersPerBlock = Number(values.transfers);
const sourceCount = Number(values.sources);

const VERIFIER_THREADS = 2;
const P2P_PORT = 4801;
const POLL_MS = 20;
const nodes: Running[] = [];

type Measured = { readonly name: string; readonly to: number };
/** Heights at which a phase ends. */
const phases: Measured[] = [
  { name: "empty blocks", to: emptyBlocks + 1 },
  { name: "blocks with transfers", to: emptyBlocks + fullBlocks + 1 },
].filter(({ to }, index, all) => to > (all[index - 1]?.to ?? 1));

/** Replays the chain into a database file; seconds at the end of each phase. */
async function replayInto(path: string, fixture: Fixture): Promise<number[]> {
  const database = openDatabase(path);
  migrate(database);
  const verifier = createVerifier({ threads: VERIFIER_THREADS });
  const chain = createChain(DEFAULT_CHAIN_OPTIONS, {
    database,
    network: fixture.network,
    genesis: fixture.genesis,
    verifier,
    events: createEventLog(database, { wanted: () => new Set() }),
    eventsOfFacts: () => [],
    eventsOfRevert: () => [],
    now: Date.now,
    onListenerError(error) {
      throw error;
    },
  });
  const ends = new Map<number, number>();
  const started = performance.now();
  chain.subscribe(({ head }) => {
    for (const { to } of phases) {
      if (head.height >= to && !ends.has(to)) ends.set(to, (performance.now() - started) / 1e3);
    }
  });
  await replay(chain, fixture.blocks());
  await chain.close();
  await verifier.close();
  database.close();
  return phases.map(({ to }) => ends.get(to)!);
}

/** Starts a node at an address; settles with it and the URL of its API. */
async function start(address: string, data: string, networkDir: string, peers: string) {
  const node = spawnUniknode([
    ...["run", "--network-dir", networkDir, "--data", data, "--http-port", "0", "--rate-limit", "0"],
    ...["--p2p-host", address, "--p2p-port", String(P2P_PORT), "--p2p-loopback", "--peers", peers],
    ...["--p2p-max-peers-same-subnet", "50", "--log-level", "warn"],
  ]);
  nodes.push(node);
  const [url] = await node.printed(/http:\S+/);
  return { node, url: url! };
}

async function heightOf(url: string): Promise<number> {
  const { data } = (await (await fetch(`${url}/api/blockchain`)).json()) as {
    data: { block: { height: number } };
  };
  return data.block.height;
}

/** Most memory that a process has had, in MiB. */
const peakMemory = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024);

function report(title: string, ends: readonly number[], replayed?: readonly number[]): void {
  console.log(title);
  for (const [index, { name, to }] of phases.entries()) {
    const blocks = to - (phases[index - 1]?.to ?? 1);
    const secondsOf = (all: readonly number[]) => all[index]! - (all[index - 1] ?? 0);
    const seconds = secondsOf(ends);
    const transactions = name === "empty blocks" ? 0 : blocks * transfersPerBlock;
    const ratio = replayed ? `, ${Math.round((100 * secondsOf(replayed)) / seconds)} % of the replay` : "";
    console.log(
      `  ${name}: ${seconds.toFixed(1)} s, ${Math.round(blocks / seconds)} blocks/s, ` +
        `${Math.round(transactions / seconds)} transactions/s${ratio}`,
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), "uniknode-sync-"));
try {
  const fixture = await loadFixture({ emptyBlocks, fullBlocks, transfersPerBlock });
  const networkDir = join(folder, "network");
  mkdirSync(networkDir);
  const write = (name: string, content: unknown) =>
    writeFileSync(join(networkDir, name), JSON.stringify(content));
  write("network.json", fixture.files.network);
  write("milestones.json", fixture.files.milestones);
  write("exceptions.json", fixture.files.exceptions);
  write("genesisBlock.json", blockToJson(fixture.genesis));

  const addresses = Array.from({ length: sourceCount }, (_, index) => `127.0.0.${index + 2}`);
  const folders = addresses.map((_, index) => join(folder, `source-${index}`));
  for (const source of folders) mkdirSync(source);
  const replayed = await replayInto(join(folders[0]!, "node.sqlite"), fixture);
  report("replay from a file", replayed);
  for (const source of folders.slice(1)) cpSync(folders[0]!, source, { recursive: true });

  for (const [index, address] of addresses.entries()) {
    await start(address, folders[index]!, networkDir, "127.0.0.200");
  }
  const started = performance.now();
  const { node, url } = await start("127.0.0.100", join(folder, "fresh"), networkDir, addresses.join(","));
  const ends: number[] = [];
  while (ends.length < phases.length) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const height = await heightOf(url);
    while (phases[ends.length] && height >= phases[ends.length]!.to)
      ends.push((performance.now() - started) / 1e3);
  }
  report(`sync from ${sourceCount} over sockets, the start of the node included`, ends, replayed);
  console.log(`  ${peakMemory(node.child.pid!)} MiB at most`);
} finally {
  for (const { child } of nodes) child.kill("SIGKILL");
  await Promise.all(nodes.map(({ ended }) => ended));
  rmSync(folder, { recursive: true, force: true });
}

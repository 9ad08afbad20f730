/**
 * `npm run bench -- sync [--empty N] [--blocks N] [--transfers N] [--sources N]`
 *
 * A new node fetches a generated chain over sockets from other Uniknode processes on this machine. The ratio to `replay`
 * compares with the same blocks read from a file by the same pipeline, in wall time and CPU time. In wall time, the sources
 * share the processors with the measured node, unlike sources on separate machines.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blockToJson } from "@uniknode/protocol";
import { replay } from "../packages/node/src/archive/import.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { type Running, spawnUniknode } from "../packages/node/test-support/process/uniknode.ts";
import { readArguments } from "../tools/arguments.ts";
import { type Fixture, loadFixture } from "./fixture.ts";
import { openPipeline } from "./pipeline.ts";

const { values } = readArguments("bench sync", {
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
const POLL_MS = 100;
/** Clock ticks per second of the kernel. */
const TICKS_PER_SECOND = 100;
const nodes: Running[] = [];

type Measured = { readonly name: string; readonly to: number };
/** Heights at which a phase ends. */
const phases: Measured[] = [
  { name: "empty blocks", to: emptyBlocks + 1 },
  { name: "blocks with transfers", to: emptyBlocks + fullBlocks + 1 },
].filter(({ to }, index, all) => to > (all[index - 1]?.to ?? 1));

/** Wall time since the start, and CPU time of one process, in seconds. */
type Cost = { readonly clock: number; readonly cpu: number };

/** Replays the chain into a database file. Returns the cost at the end of each phase. */
async function replayInto(path: string, fixture: Fixture): Promise<Cost[]> {
  const { chain, verifier, close } = openPipeline(path, fixture, {
    threads: VERIFIER_THREADS,
    events: { eventsOfFacts: () => [], eventsOfRevert: () => [] },
  });
  const ends = new Map<number, Cost>();
  const started = performance.now();
  const startedCpu = process.cpuUsage();
  const costNow = () => {
    const { user, system } = process.cpuUsage(startedCpu);
    return { clock: (performance.now() - started) / 1e3, cpu: (user + system) / 1e6 };
  };
  chain.subscribe(({ head }) => {
    for (const { to } of phases) {
      if (head.height >= to && !ends.has(to)) ends.set(to, costNow());
    }
  });
  await replay(chain, fixture.blocks());
  await close();
  await verifier.close();
  return phases.map(({ to }) => present(ends.get(to)));
}

/** Starts a node at an address. Returns the process and the URL of its API. */
async function start(address: string, data: string, networkDir: string, peers: string) {
  const node = spawnUniknode([
    ...["run", "--network-dir", networkDir, "--data", data, "--http-port", "0", "--rate-limit", "0"],
    ...["--p2p-host", address, "--p2p-port", String(P2P_PORT), "--p2p-loopback", "--peers", peers],
    ...["--p2p-max-peers-same-subnet", "50", "--log-level", "warn", "--metrics-public"],
  ]);
  nodes.push(node);
  const [url] = await node.printed(/http:\S+/);
  return { node, url: present(url) };
}

async function heightOf(url: string): Promise<number> {
  const { data } = (await (await fetch(`${url}/api/blockchain`)).json()) as {
    data: { block: { height: number } };
  };
  return data.block.height;
}

/** CPU time of a process in seconds. */
function processorTime(pid: number): number {
  const [user, system] = present(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1])
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/** Bytes that a node has received from others and sent to them. */
async function trafficOf(url: string): Promise<{ received: number; sent: number }> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => Number(present(new RegExp(`^${name} (\\S+)`, "m").exec(page))[1]);
  return {
    received: value("uniknode_peers_received_bytes_total"),
    sent: value("uniknode_peers_sent_bytes_total"),
  };
}

/** Peak memory of a process in MiB. */
const peakMemory = (pid: number): number =>
  Math.round(Number(present(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")))[1]) / 1024);

function report(title: string, ends: readonly Cost[], replayed?: readonly Cost[]): void {
  console.log(title);
  for (const [index, { name, to }] of phases.entries()) {
    const blocks = to - (phases[index - 1]?.to ?? 1);
    const part = (all: readonly Cost[], of: keyof Cost) =>
      present(all[index])[of] - (all[index - 1]?.[of] ?? 0);
    const seconds = part(ends, "clock");
    const transactions = name === "empty blocks" ? 0 : blocks * transfersPerBlock;
    const percent = (of: keyof Cost) => Math.round((100 * part(present(replayed), of)) / part(ends, of));
    const ratio = replayed
      ? `; ${percent("clock")} % of the replay by the clock, ${percent("cpu")} % by processor time`
      : "";
    console.log(
      `  ${name}: ${seconds.toFixed(1)} s, ${Math.round(blocks / seconds)} blocks/s, ` +
        `${Math.round(transactions / seconds)} transactions/s, ` +
        `${part(ends, "cpu").toFixed(1)} s of processor time${ratio}`,
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
  const replayed = await replayInto(join(present(folders[0]), "node.sqlite"), fixture);
  report("replay from a file", replayed);
  for (const source of folders.slice(1)) cpSync(present(folders[0]), source, { recursive: true });

  const sources: Running[] = [];
  for (const [index, address] of addresses.entries()) {
    sources.push((await start(address, present(folders[index]), networkDir, "127.0.0.200")).node);
  }
  const sourceTime = () => sources.reduce((sum, { child }) => sum + processorTime(present(child.pid)), 0);
  const sourceTimeBefore = sourceTime();
  const started = performance.now();
  const { node, url } = await start("127.0.0.100", join(folder, "fresh"), networkDir, addresses.join(","));
  const pid = present(node.child.pid);
  const ends: Cost[] = [];
  while (ends.length < phases.length) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const height = await heightOf(url);
    while (phases[ends.length] && height >= present(phases[ends.length]).to) {
      ends.push({ clock: (performance.now() - started) / 1e3, cpu: processorTime(pid) });
    }
  }
  report(`sync from ${sourceCount} over sockets, the start of the node included`, ends, replayed);
  const { received, sent } = await trafficOf(url);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(`  ${megabytes(received)} received, ${megabytes(sent)} sent, ${peakMemory(pid)} MiB at most`);
  console.log(`  processor time of the sources beside it: ${(sourceTime() - sourceTimeBefore).toFixed(1)} s`);
} finally {
  for (const { child } of nodes) child.kill("SIGKILL");
  await Promise.all(nodes.map(({ ended }) => ended));
  rmSync(folder, { recursive: true, force: true });
}

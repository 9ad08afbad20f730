/**
 * `npm run bench -- mirror [--empty N] [--caught-up N] [--blocks N] [--transfers N] [--profile FOLDER]`
 *
 * Copies a generated chain into PostgreSQL with the real mirror process: first it builds a mirror, then another mirror catches up
 * with blocks of the feed. The node is a thread of this process, and PostgreSQL a server from an npm package without fsync.
 * Prints CPU time of the mirror next to wall time. With `--profile`, the mirror writes a CPU profile of each run into the folder.
 */
import { finalHeight } from "../packages/node/src/facts/final.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { startPostgres } from "../packages/node/test-support/postgres/server.ts";
import { readArguments } from "../tools/arguments.ts";
import { loadFixture } from "./fixture.ts";
import { createNodeFolder, runMirror, type Sample } from "./mirror/copies.ts";

const { values } = readArguments("bench mirror", {
  options: {
    /** Blocks without transactions. */
    empty: { type: "string", default: "30000" },
    /** The last of them, with which a mirror catches up. */
    "caught-up": { type: "string", default: "6000" },
    /** Blocks with transfers, which follow. */
    blocks: { type: "string", default: "2000" },
    transfers: { type: "string", default: "50" },
    profile: { type: "string" },
  },
});
const emptyBlocks = Number(values.empty);
const caughtUp = Number(values["caught-up"]);
const fullBlocks = Number(values.blocks);
const transfersPerBlock = Number(values.transfers);
/** The genesis block has height 1. */
const lastEmpty = emptyBlocks + 1;
const last = lastEmpty + fullBlocks;

const fixture = await loadFixture({ emptyBlocks, fullBlocks, transfersPerBlock });
const folder = createNodeFolder(fixture);
const server = await startPostgres({ shared_buffers: "256MB", max_wal_size: "4GB" });
const { profile } = values;

/** Prints the rates between the first samples that fulfil two conditions. */
function report(
  name: string,
  samples: readonly Sample[],
  from: (sample: Sample) => boolean,
  to: (sample: Sample) => boolean,
  progress: (sample: Sample) => number,
): void {
  const start = present(samples.find(from), "a first sample");
  const end = present(samples.find(to), "a last sample");
  const [clock, cpu] = [end.clock - start.clock, end.cpu - start.cpu];
  const blocks = progress(end) - progress(start);
  if (end === start) {
    console.log(`${name}: too short to be measured`);
    return;
  }
  const rate = (count: number) => Math.round(count / clock).toLocaleString("en");
  const transfers =
    progress(end) > lastEmpty && progress(start) >= lastEmpty ? blocks * transfersPerBlock : 0;
  console.log(
    `${name}: ${blocks} blocks in ${clock.toFixed(2)} s, CPU time ${cpu.toFixed(2)} s, peak memory ${end.peakMb} MB: ${rate(blocks)} blocks/s` +
      (transfers > 0 ? `, ${rate(transfers)} transfers/s` : ""),
  );
}

const height = ({ height }: Sample) => height;
const reached = (goal: number) => (sample: Sample) => sample.height >= goal;

await folder.extend(lastEmpty - caughtUp);
let node = await folder.serve();
const mirror = (databaseUrl: string, head: number) =>
  runMirror(fixture, { server, nodeUrl: node.url, databaseUrl, head, profile });
const following = await server.createDatabase("following");
await mirror(following, lastEmpty - caughtUp);
await node.stop();
await folder.extend(last);
node = await folder.serve();
const followed = await mirror(following, last);
const built = await mirror(await server.createDatabase("built"), last);
await node.stop();
await server.stop();
folder.remove();

const isReady = ({ isReady }: Sample) => isReady;
report(
  "catch up, empty blocks",
  followed,
  ({ height }) => height > lastEmpty - caughtUp,
  reached(lastEmpty),
  height,
);
report("catch up, full blocks", followed, reached(lastEmpty), reached(last), height);
report("build, empty blocks", built, ({ height }) => height > 0, reached(lastEmpty), height);
report("build, full blocks", built, reached(lastEmpty), reached(last), height);
report("build, state and indexes", built, reached(last), isReady, height);
const hasAllFacts = ({ facts }: Sample) => facts >= finalHeight(last, fixture.network);
report("build, facts of the chain", built, isReady, hasAllFacts, ({ facts }) => facts);

/**
 * Counts the instructions of a response of the API, with callgrind of Valgrind. Other load of the machine has little influence on
 * them, unlike on times; the compilation of functions falls into some runs only. They are not times: an instruction can wait for
 * memory, and Valgrind has fewer vector instructions than most processors.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "../../packages/node/src/platform/present.ts";
import { type Request, shoot } from "../api/load.ts";
import { type Execution, HEAP, type Servers, startServers } from "../api/process.ts";
import type { Tree } from "../trees.ts";
import type { Figures } from "./process.ts";
import { loadVersion } from "./responses.ts";

const CONNECTIONS = 8;
/** Responses that compile the code and fill the caches, that end the work begun before, and that are counted in each run. */
const COUNTS = {
  page: { warm: 4_000, settle: 50, counted: 100 },
  single: { warm: 20_000, settle: 50, counted: 500 },
};
const IS_PAGE = /page|thousands|a block$|\/transactions$/;
/** Old objects are not collected: a collection costs as much as a thousand responses, and fell into some runs only. */
const NO_OLD_COLLECTIONS = "--initial-heap-size=2048";
/** Limits of the time for a read would end it: the program is up to 100 times as slow. */
const SLOW_CLOCK = "const now = performance.now.bind(performance); performance.now = () => now() / 100;";
/** Timers of the runtime sometimes begin before they were set by this clock. */
const NO_WARNING = "--disable-warning=TimeoutNegativeWarning";

/** Returns the thousands of instructions of a response in each run. */
export const countInstructions = (trees: readonly Tree[], runs: number): Promise<Figures[][]> =>
  Promise.all(trees.map((tree) => countIn(tree, runs)));

async function countIn(tree: Tree, runs: number): Promise<Figures[]> {
  const { dataset, requests } = await loadVersion(tree);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-instructions-"));
  const servers = await startServers(dataset, { tree, execution: underCallgrind(tree, folder) });
  try {
    const figures = Array.from({ length: runs }, (): Record<string, number> => ({}));
    for (const [name, list] of requests) {
      const counts = await count({ servers, folder, runs }, name, list);
      for (const [run, figure] of figures.entries()) {
        figure[`${name}, thousand instructions`] = present(counts[run]);
      }
    }
    return figures;
  } finally {
    servers.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const underCallgrind = ({ runtime }: Tree, folder: string): Execution => ({
  execPath: "valgrind",
  execArgv: [
    ...["--quiet", "--tool=callgrind", "--smc-check=all-non-file", "--instr-atstart=no"],
    ...[`--callgrind-out-file=${join(folder, "out")}`, runtime, ...HEAP, NO_OLD_COLLECTIONS, NO_WARNING],
    `--import=data:text/javascript,${encodeURIComponent(SLOW_CLOCK)}`,
  ],
});

type Counting = { readonly servers: Servers; readonly folder: string; readonly runs: number };

async function count(
  { servers: { port, pid }, folder, runs }: Counting,
  name: string,
  requests: readonly Request[],
): Promise<number[]> {
  const { warm, settle, counted } = IS_PAGE.test(name) ? COUNTS.page : COUNTS.single;
  const send = (responses: number) => shoot(port, requests, { connections: CONNECTIONS, responses });
  // It names each command on standard error, which is shown only if one fails.
  const control = (...options: string[]) =>
    execFileSync("callgrind_control", [...options, `${pid}`], { stdio: "pipe" });
  // Single requests may fail: the command stops the program for a moment.
  await send(warm);
  control("--instr=on");
  await send(settle);
  const totals: number[] = [];
  for (let run = 0; run < runs; run++) {
    control("--zero");
    const { failed } = await send(counted);
    if (failed > 0) throw new Error(`${failed} of ${counted} requests failed: ${name}`);
    control("--dump");
    totals.push(takeTotal(folder) / counted / 1_000);
  }
  control("--instr=off");
  return totals;
}

/** Returns the instructions in the only dump of a folder, and removes it. */
function takeTotal(folder: string): number {
  const dumps = readdirSync(folder).filter((name) => name.startsWith("out."));
  const texts = dumps.map((name) => readFileSync(join(folder, name), "utf8"));
  for (const name of dumps) rmSync(join(folder, name));
  const [, total] = present(/^(?:summary|totals): (\d+)/m.exec(present(texts[0])));
  return Number(total);
}

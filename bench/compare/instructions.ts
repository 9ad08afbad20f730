/**
 * Counts the instructions of a response of the API, with callgrind of Valgrind. Other load of the machine has no influence on the
 * numbers, unlike on times. They are not times: an instruction can wait for memory, and Valgrind has fewer vector instructions than
 * most processors.
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
/** Responses that compile the code and fill the caches, that end the work begun before, and that are counted. */
const COUNTS = {
  page: { warm: 1_500, settle: 100, counted: 500 },
  single: { warm: 6_000, settle: 100, counted: 3_000 },
};
const IS_PAGE = /page|thousands|a block$|\/transactions$/;
/** Limits of the time for a read would end it: the program is up to 100 times as slow. */
const SLOW_CLOCK = "const now = performance.now.bind(performance); performance.now = () => now() / 100;";

/** Returns the thousands of instructions of a response, counted once for each version. */
export const countInstructions = async (trees: readonly Tree[]): Promise<Figures[][]> =>
  await Promise.all(trees.map(async (tree) => [await countIn(tree)]));

async function countIn(tree: Tree): Promise<Figures> {
  const { dataset, requests } = await loadVersion(tree);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-instructions-"));
  const servers = await startServers(dataset, { tree, execution: underCallgrind(tree, folder) });
  try {
    const figures: Record<string, number> = {};
    for (const [name, list] of requests) {
      figures[`${name}, thousand instructions`] = await count(servers, folder, name, list);
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
    ...[`--callgrind-out-file=${join(folder, "out")}`, runtime, ...HEAP],
    `--import=data:text/javascript,${encodeURIComponent(SLOW_CLOCK)}`,
  ],
});

async function count(
  { port, pid }: Servers,
  folder: string,
  name: string,
  requests: readonly Request[],
): Promise<number> {
  const { warm, settle, counted } = IS_PAGE.test(name) ? COUNTS.page : COUNTS.single;
  const send = async (responses: number) => {
    const { failed } = await shoot(port, requests, { connections: CONNECTIONS, responses });
    if (failed > 0) throw new Error(`${failed} of ${responses} requests failed: ${name}`);
  };
  // It names each command on standard error, which is shown only if one fails.
  const control = (...options: string[]) =>
    execFileSync("callgrind_control", [...options, `${pid}`], { stdio: "pipe" });
  await send(warm);
  control("--instr=on");
  await send(settle);
  control("--zero");
  await send(counted);
  control("--dump");
  control("--instr=off");
  return takeTotal(folder) / counted / 1_000;
}

/** Returns the instructions in the only dump of a folder, and removes it. */
function takeTotal(folder: string): number {
  const dumps = readdirSync(folder).filter((name) => name.startsWith("out."));
  const texts = dumps.map((name) => readFileSync(join(folder, name), "utf8"));
  for (const name of dumps) rmSync(join(folder, name));
  const [, total] = present(/^(?:summary|totals): (\d+)/m.exec(present(texts[0])));
  return Number(total);
}

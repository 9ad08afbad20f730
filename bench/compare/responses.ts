/**
 * Measures responses of the API of several versions. Their servers run at once and take turns every second, because other load of
 * the machine changes within a minute. Each version generates and serves a chain of its own.
 */
import { join } from "node:path";
import { present } from "../../packages/node/src/platform/present.ts";
import type { loadDataset } from "../api/dataset.ts";
import type { familiesOf } from "../api/families.ts";
import { type Request, shoot } from "../api/load.ts";
import { type Servers, startServers } from "../api/process.ts";
import type { Tree } from "../trees.ts";
import type { Figures } from "./process.ts";

const SIZE = { transactions: 1_000_000, wallets: 100_000, uniks: 20_000 };
const LOAD = { connections: 64, seconds: 1 };
/** Fills the caches and compiles the code of a kind of request. */
const WARM_UP = { ...LOAD, seconds: 2 };

type Version = {
  readonly servers: Servers;
  /** Requests by kind. */
  readonly requests: ReadonlyMap<string, readonly Request[]>;
};

/** Returns the figures of each run, by version in the order of the trees. */
export async function measureResponses(trees: readonly Tree[], runs: number): Promise<Figures[][]> {
  const versions: Version[] = [];
  for (const tree of trees) versions.push(await startVersion(tree));
  const figures = trees.map(() => Array.from({ length: runs }, (): Record<string, number> => ({})));
  const names = [...present(versions[0]).requests.keys()];
  for (const name of names.filter((name) => versions.every(({ requests }) => requests.has(name)))) {
    for (const { servers, requests } of versions) {
      await shoot(servers.port, present(requests.get(name)), WARM_UP);
    }
    for (let run = 0; run < runs; run++) {
      const order = [...versions.entries()];
      for (const [version, { servers, requests }] of run % 2 === 0 ? order : order.reverse()) {
        const beforeMs = await servers.processorMs();
        const { responses, perSecond } = await shoot(servers.port, present(requests.get(name)), LOAD);
        const processorMs = (await servers.processorMs()) - beforeMs;
        Object.assign(present(figures[version]?.[run]), {
          [`${name}, 1/s`]: perSecond,
          [`${name}, us of processor time`]: (1_000 * processorMs) / responses,
        });
      }
    }
  }
  for (const { servers } of versions) servers.stop();
  return figures;
}

async function startVersion(tree: Tree): Promise<Version> {
  const { dataset, requests } = await loadVersion(tree);
  return { requests, servers: await startServers(dataset, { tree }) };
}

/** Loads the chain of a version, with the code of this version, and its requests by kind. */
export async function loadVersion(tree: Tree) {
  const load = (file: string) => import(join(tree.folder, "bench/api", file));
  const datasets: { loadDataset: typeof loadDataset } = await load("dataset.ts");
  const kinds: { familiesOf: typeof familiesOf } = await load("families.ts");
  const dataset = await datasets.loadDataset(SIZE);
  const requests = new Map(kinds.familiesOf(dataset).map(({ name, requests }) => [name, requests]));
  return { dataset, requests };
}

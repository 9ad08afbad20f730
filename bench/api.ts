/**
 * `npm run bench -- api [families] [pages] [forging] [--transactions 1000000] [--seconds 3] [--connections 64]
 * [--only transactions]`
 *
 * Measures the API over a generated chain, and over one with a tenth of its rows; runs all parts unless some are named. The
 * load comes from this process, the servers run in another.
 *
 * - families: requests per second by kind of request, each with different parameters, so that no response is cached;
 *   for comparison the same request repeatedly, and a bare HTTP server with a constant response of the same size.
 *   Prints CPU time, too, because it does not depend on other load of the machine;
 * - pages: every list, or the lists whose path contains `--only`, in every order and with every filter, near and far, and
 *   the ten slowest, also after an interruption. The node builds its caches of a list at the first request: the time
 *   until then is printed separately;
 * - forging: commit times of blocks, idle and under maximum API load.
 */

import { present } from "../packages/node/src/platform/present.ts";
import { readArguments } from "../tools/arguments.ts";
import { type Dataset, loadDataset } from "./api/dataset.ts";
import { type Family, familiesOf } from "./api/families.ts";
import { type LoadedDelay, measureForging } from "./api/forging.ts";
import { type Load, shoot } from "./api/load.ts";
import { measurePages, type QueryFigures } from "./api/pages.ts";
import { startServers } from "./api/process.ts";

const { values, positionals } = readArguments("bench api [PART...]", {
  allowPositionals: true,
  options: {
    transactions: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "3" },
    connections: { type: "string", default: "64" },
    only: { type: "string", default: "" },
  },
});
const transactions = Number(values.transactions);
const load: Load = { seconds: Number(values.seconds), connections: Number(values.connections) };
const isSelected = (part: string) => positionals.length === 0 || positionals.includes(part);

const datasetOf = (count: number) =>
  loadDataset({ transactions: count, wallets: count / 10, uniks: count / 50 });

/** Cost of a response, and responses per second. */
type Rate = { readonly perSecond: number; readonly processorMs: number };
const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;

async function measureFamilies(dataset: Dataset, families: readonly Family[]): Promise<Map<string, Rate>> {
  const servers = await startServers(dataset);
  const rates = new Map<string, Rate>();
  async function measured(port: number, requests: Family["requests"]) {
    const beforeMs = await servers.processorMs();
    const figures = await shoot(port, requests, load);
    return { ...figures, processorMs: ((await servers.processorMs()) - beforeMs) / figures.responses };
  }
  console.log(
    "request | bytes | requests/s | p99 ms | the same one/s | bare server/s | share | us of processor time | bare | share | failed",
  );
  for (const { name, requests } of families) {
    // A node that has run for a while has the requested data in memory: the first read of a page of the file is slower.
    await shoot(servers.port, requests, load);
    // Figures of the head are computed once per block, which is not measured here.
    const same = await measured(servers.port, requests.slice(0, 1));
    const each = await measured(servers.port, requests);
    await servers.setBareBytes(each.bytes);
    // The same requests, because generating them costs time, too.
    const bare = await measured(servers.barePort, requests);
    rates.set(name, each);
    console.log(
      [
        name,
        each.bytes,
        Math.round(each.perSecond),
        each.p99Ms,
        Math.round(same.perSecond),
        Math.round(bare.perSecond),
        percent(each.perSecond, bare.perSecond),
        Math.round(1_000 * each.processorMs),
        Math.round(1_000 * bare.processorMs),
        percent(bare.processorMs, each.processorMs),
        each.failed,
      ].join(" | "),
    );
  }
  servers.stop();
  return rates;
}

if (isSelected("families")) {
  console.log(`families: ${load.connections} connections, ${load.seconds} s each`);
  const [few, many] = [await datasetOf(transactions / 10), await datasetOf(transactions)];
  const large = await measureFamilies(many, familiesOf(many));
  console.log("\nwith a tenth of the rows");
  const small = await measureFamilies(few, familiesOf(few));
  console.log("\nrequest | requests/s at a tenth, of those at the whole | the same by processor time");
  for (const [name, at] of large) {
    const tenth = present(small.get(name));
    console.log(
      `${name} | ${percent(tenth.perSecond, at.perSecond)} | ${percent(at.processorMs, tenth.processorMs)}`,
    );
  }
}

/** Goal for any list of a million transactions; smaller chains must be faster, except for noise. */
const MAX_LIST_MS = Math.max(10, Math.min(50, (50 * transactions) / 1_000_000));
const SHOWN = 10;

if (isSelected("pages")) {
  const dataset = await datasetOf(transactions);
  const servers = await startServers(dataset);
  const show = ({ query, rows, p99Ms, firstMs, settledMs, asked, failed }: QueryFigures) =>
    console.log(
      [query, rows, p99Ms.toFixed(1), firstMs.toFixed(1), settledMs?.toFixed(0), asked, failed].join(" | "),
    );
  const figures: QueryFigures[] = [];
  function end(): void {
    servers.stop();
    const slow = figures.filter(({ p99Ms }) => p99Ms > MAX_LIST_MS);
    console.log(`\n${figures.length} queries, ${slow.length} of them above ${MAX_LIST_MS} ms; the slowest:`);
    figures.sort((a, b) => b.p99Ms - a.p99Ms);
    figures.slice(0, SHOWN).forEach(show);
  }
  process.once("SIGINT", () => {
    end();
    process.exit(130);
  });
  console.log("\npages: query | rows | p99 ms | first ms | ms until it is quick | requests | failed");
  const selection = { dataset, goalMs: MAX_LIST_MS, only: values.only };
  for await (const one of measurePages(selection, servers.port)) {
    figures.push(one);
    if (one.p99Ms > MAX_LIST_MS || one.failed > 0) show(one);
    process.stderr.write(`\r${figures.length} queries `);
  }
  end();
}

if (isSelected("forging")) {
  console.log("\nforging: from the beginning of a slot to the commit of its block, 20 transfers a second");
  const show = ({ blocks, p50Ms, p90Ms, maxMs, perSecond }: LoadedDelay) =>
    `median ${Math.round(p50Ms)} ms, p90 ${Math.round(p90Ms)} ms, highest ${Math.round(maxMs)} ms (${blocks} blocks, ${Math.round(perSecond)} requests/s)`;
  // Alternately, so that other load of the machine affects both.
  for (let round = 0; round < 2; round++) {
    console.log(`  without requests: ${show(await measureForging(45, 0))}`);
    console.log(`  ${load.connections} connections: ${show(await measureForging(45, load.connections))}`);
  }
}

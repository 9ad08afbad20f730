/**
 * `npm run parity -- [FOLDER] [--only TEXT] [--serve] [--http-port N] [--database-url URL] [--postgres]
 * [--compare N [--seed N]]`
 *
 * Compares the API with the responses recorded in FOLDER (default test/vectors/api). `--only` selects cases whose file, name
 * or path contains TEXT, and prints their differences in full. `--serve` only serves the recorded chain at its last height,
 * until Ctrl-C. `--database-url` serves the chain from a PostgreSQL database, into which it is mirrored first; `--postgres` starts
 * the PostgreSQL server of the tests for it. `--compare` sends N random reads (filters, orders, cursors, pages) to the read models of
 * SQLite and PostgreSQL instead, and prints the differences.
 */
import { once } from "node:events";
import { ask } from "../packages/node/test-support/parity/ask.ts";
import { faultsOf } from "../packages/node/test-support/parity/compare.ts";
import { compareModels } from "../packages/node/test-support/parity/compare-models.ts";
import { caseFiles } from "../packages/node/test-support/parity/files.ts";
import { startNode } from "../packages/node/test-support/parity/node.ts";
import {
  type OpenReadModel,
  openMirror,
  openMirrorInOwnServer,
  openSqlite,
} from "../packages/node/test-support/parity/read-models.ts";
import { readArguments } from "./arguments.ts";

const { values, positionals } = readArguments("parity [FOLDER]", {
  allowPositionals: true,
  options: {
    only: { type: "string" },
    serve: { type: "boolean", default: false },
    "http-port": { type: "string", default: "0" },
    "database-url": { type: "string" },
    postgres: { type: "boolean", default: false },
    compare: { type: "string" },
    seed: { type: "string", default: "1" },
  },
});
const [folder = "test/vectors/api"] = positionals;

if (values.compare === undefined) await runCases();
else process.exitCode = (await compareRandomly(Number(values.compare))) ? 0 : 1;

async function runCases(): Promise<void> {
  const node = await startNode(folder, {
    httpPort: Number(values["http-port"]),
    openReadModel: chooseReadModel(values["database-url"]),
  });
  if (values.serve) {
    console.log(`height ${node.height}: http://127.0.0.1:${node.port}/api`);
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  } else {
    process.exitCode = (await compareCases(node.port, values.only)) ? 0 : 1;
  }
  await node.close();
}

/** Returns true if the results of both read models are equal. */
async function compareRandomly(cases: number): Promise<boolean> {
  const seed = Number(values.seed);
  const url = values["database-url"];
  const open = url === undefined ? openMirrorInOwnServer : openMirror(url);
  const differences = await compareModels(folder, open, { seed, cases });
  for (const { request, one, other } of differences) console.log(request, { sqlite: one, postgres: other });
  console.log(`${cases} random reads with seed ${seed}: ${differences.length} differences`);
  return differences.length === 0;
}

function chooseReadModel(databaseUrl: string | undefined): OpenReadModel {
  if (databaseUrl !== undefined) return openMirror(databaseUrl);
  return values.postgres ? openMirrorInOwnServer : openSqlite;
}

/** Returns true if every response is as expected. */
async function compareCases(port: number, only: string | undefined): Promise<boolean> {
  let isGood = true;
  for (const { file, cases } of caseFiles(folder)) {
    const counts = { passed: 0, failed: 0 };
    for (const one of cases) {
      const { name, request } = one;
      if (only !== undefined && ![file, name, request.path].some((part) => part.includes(only))) continue;
      // If the recorded response is a defect of the old network, ours is not compared.
      const faults = faultsOf(one, await ask(port, one), `http://127.0.0.1:${port}`) ?? [];
      counts[faults.length === 0 ? "passed" : "failed"] += 1;
      if (faults.length === 0) continue;
      isGood = false;
      console.log(`${file} ${name}: ${request.method} ${request.path.slice(0, 200)}`);
      for (const fault of only === undefined ? faults.slice(0, 3) : faults) console.log(`    ${fault}`);
    }
    if (counts.passed + counts.failed > 0) console.log(file, counts);
  }
  return isGood;
}

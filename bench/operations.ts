/**
 * `npm run bench -- operations [--deliveries N] [--webhooks N] [--seconds N]`
 *
 * Response times of monitoring on a dev chain whose webhook targets all accept calls and never respond, with deliveries in
 * every queue, while clients keep the API busy.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";
import { present } from "../packages/node/src/platform/present.ts";
import { openDatabase } from "../packages/node/src/store/engine/database.ts";
import { apiUrlOf, spawnUniknode } from "../packages/node/test-support/process/uniknode.ts";
import { readArguments } from "../tools/arguments.ts";
import { percentile } from "./node/node.ts";

const { values } = readArguments("bench operations", {
  options: {
    deliveries: { type: "string", default: "1000000" },
    webhooks: { type: "string", default: "1000" },
    seconds: { type: "string", default: "60" },
  },
});
const deliveries = Number(values.deliveries);
const webhooks = Number(values.webhooks);
const seconds = Number(values.seconds);
const TOKEN = "bench";
const LOOK_PAUSE_MS = 20;
const LOADING_CLIENTS = 8;

const hanging = createServer((socket) => socket.on("error", () => {}).resume());
await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
const target = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/hook`;
const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));

async function start() {
  const node = spawnUniknode(
    ["dev", "--data", folder, "--http-port", "0", "--block-time", "2", "--webhook-token", TOKEN],
    { environment: { UNIKNODE_LOG_LEVEL: "silent" } },
  );
  const url = await apiUrlOf(node);
  return {
    url: url,
    residentMb: () =>
      Number(present(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${node.child.pid}/status`, "utf8")))[1]) /
      1_024,
    async stop() {
      node.child.kill("SIGINT");
      await node.ended;
    },
  };
}

async function fill(): Promise<void> {
  const node = await start();
  const conditions = [EVERY_EVENT];
  for (let count = 0; count < webhooks; count++) {
    const response = await fetch(`${node.url}/api/webhooks`, {
      method: "POST",
      headers: { authorization: TOKEN, "content-type": "application/json" },
      body: JSON.stringify({ event: "block.applied", target: `${target}/${count}`, conditions }),
    });
    if (!response.ok) throw new Error(await response.text());
    await response.text();
  }
  await node.stop();
  const database = openDatabase(join(folder, "node.sqlite"));
  database.transaction(() => {
    database.execute('INSERT INTO contents (number, data) VALUES (1000000000, \'{"id":"1"}\')');
    database.execute(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${deliveries})
       INSERT INTO deliveries (webhook, id, event, target_number, content, created_ms, state)
       SELECT 1 + i % ${webhooks}, 'bench' || i, 'block.applied', 1, 1000000000, 1700000000000 + i, 'pending' FROM n`,
    );
  });
  database.close();
}

/** Clients in a separate process, so that they use no time of the measuring one. */
function load(url: string): ChildProcess {
  const script = `for (let i = 0; i < ${LOADING_CLIENTS}; i++) (async () => { for (let n = i;; n += ${LOADING_CLIENTS})
    await fetch("${url}/api/blocks?limit=100&page=" + (1 + n % 3)).then((a) => a.text()).catch(() => {}); })()`;
  return spawn(process.execPath, ["--eval", script], { stdio: "ignore" });
}

await fill();
const beganMs = performance.now();
const node = await start();
console.log(
  `started in ${Math.round(performance.now() - beganMs)} ms with ${deliveries} deliveries in ${webhooks} queues`,
);
const loading = load(node.url);
const untilMs = performance.now() + seconds * 1_000;
let peakMb = 0;

async function look(path: string, pauseMs: number): Promise<void> {
  const tookMs: number[] = [];
  const statuses = new Map<number, number>();
  while (performance.now() < untilMs) {
    const askedMs = performance.now();
    const response = await fetch(`${node.url}${path}`, { headers: { authorization: TOKEN } });
    await response.text();
    tookMs.push(performance.now() - askedMs);
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    peakMb = Math.max(peakMb, node.residentMb());
    await sleep(pauseMs);
  }
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(percentile(tookMs, share)));
  const counts = [...statuses].map(([status, count]) => `${count} x ${status}`).join(", ");
  console.log(`${path.padEnd(15)} median ${p50} ms, p99 ${p99} ms, highest ${max} ms (${counts})`);
}

await Promise.all([
  look("/health/live", LOOK_PAUSE_MS),
  look("/health/ready", 500),
  look("/health/status", 1_100),
  look("/metrics", 1_100),
]);
console.log(`peak of the resident memory: ${Math.round(peakMb)} MB`);
loading.kill();
await node.stop();
hanging.close();
rmSync(folder, { recursive: true });
process.exit();

/**
 * `npm run bench -- lag [--blocks 120]`
 *
 * Time between a block on the node and the same block in PostgreSQL: a dev chain with a block each second, its mirror process, and
 * a PostgreSQL server from an npm package, which waits for the disk. Both are observed from here: the node by its live stream, and
 * the database by a query every 2 ms.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@uniknode/client";
import { present } from "../packages/node/src/platform/present.ts";
import type { Postgres } from "../packages/node/src/postgres/connection.ts";
import { connect, startPostgres } from "../packages/node/test-support/postgres/server.ts";
import { spawnUniknode } from "../packages/node/test-support/process/uniknode.ts";
import { readArguments } from "../tools/arguments.ts";

const { values } = readArguments("bench lag", { options: { blocks: { type: "string", default: "120" } } });
const blocks = Number(values.blocks);
const TOKEN = "bench";
const POLL_MS = 2;

/** Notes when each height is first seen. */
type Seen = Map<number, number>;
const note = (seen: Seen, height: number): void => {
  if (!seen.has(height)) seen.set(height, performance.now());
};

async function watchNode(url: string, signal: AbortSignal, seen: Seen): Promise<void> {
  const client = createClient({ url, webhookToken: TOKEN });
  for await (const { height } of client.events.stream({ events: ["block.applied"], signal })) {
    if (height !== undefined) note(seen, height);
  }
}

async function watchDatabase(postgres: Postgres, signal: AbortSignal, seen: Seen): Promise<void> {
  while (!signal.aborted) {
    const [head] = await postgres.query<{ height: string }>("SELECT height FROM head").catch(() => []);
    if (head) note(seen, Number(head.height));
    await sleep(POLL_MS);
  }
}

const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
const server = await startPostgres({ fsync: "on" });
const databaseUrl = await server.createDatabase("lag");
const postgres = connect(databaseUrl);
const node = spawnUniknode([
  ...["dev", "--data", folder, "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN],
  ...["--mirror", databaseUrl],
]);
const stop = new AbortController();
const [onNode, inDatabase]: [Seen, Seen] = [new Map(), new Map()];
try {
  const [, url] = await node.printed(/API\s+(http:\S+?)\/api/);
  const watching = [
    watchNode(present(url), stop.signal, onNode),
    watchDatabase(postgres, stop.signal, inDatabase),
  ];
  while (onNode.size < blocks) await sleep(100);
  stop.abort();
  await Promise.allSettled(watching);
  const lags = [...onNode]
    .flatMap(([height, atMs]) => {
      const mirroredMs = inDatabase.get(height);
      return mirroredMs === undefined ? [] : [mirroredMs - atMs];
    })
    .sort((a, b) => a - b);
  const quantile = (share: number) => present(lags[Math.ceil(share * lags.length) - 1]).toFixed(0);
  console.log(
    `${lags.length} of ${onNode.size} blocks: ${quantile(0.5)} ms median, ${quantile(0.99)} ms p99, ${quantile(1)} ms maximum`,
  );
} finally {
  stop.abort();
  node.child.kill("SIGTERM");
  await node.ended;
  await postgres.close();
  await server.stop();
  rmSync(folder, { recursive: true });
}

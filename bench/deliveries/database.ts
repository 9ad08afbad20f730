/** Databases with a mirror of a dev chain: one is built, and copied for each run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type PostgresServer } from "../../packages/node/test-support/postgres/server.ts";
import { spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";

const TEMPLATE = "mirrored";
const POLL_MS = 20;

/** Returns the URL of the database. */
export async function createTemplate(server: PostgresServer): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
  const url = await server.createDatabase(TEMPLATE);
  const node = spawnUniknode([
    ...["dev", "--data", folder, "--http-port", "0", "--webhook-token", "bench", "--mirror", url],
  ]);
  const postgres = connect(url);
  try {
    for (;;) {
      const [row] = await postgres
        .query("SELECT 1 FROM head, node_identity WHERE phase = 'ready'")
        // The tables do not exist yet.
        .catch(() => []);
      if (row) return url;
      if (node.child.exitCode !== null) throw new Error(`the node ended: ${node.stderr()}`);
      await sleep(POLL_MS);
    }
  } finally {
    node.child.kill("SIGTERM");
    await node.ended;
    await postgres.close();
    rmSync(folder, { recursive: true });
  }
}

/** Returns the URL of the copy. */
export async function copyDatabase(templateUrl: string, name: string): Promise<string> {
  const urlOf = (database: string) => Object.assign(new URL(templateUrl), { pathname: `/${database}` }).href;
  const postgres = connect(urlOf("postgres"));
  await postgres.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  await postgres.close();
  return urlOf(name);
}

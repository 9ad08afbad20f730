/** Dev chain in a separate process, for measurements. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { type Client, connect } from "../../packages/node/test-support/process/client.ts";
import { apiUrlOf, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";

const TOKEN = "bench";

export type BenchNode = {
  readonly url: string;
  readonly client: Client;
  /** Posts to an endpoint that requires the webhook token. */
  post(path: string, body: unknown): Promise<void>;
  /** Ends the process. */
  stop(): Promise<void>;
  /**
   * Write times of blocks by height, in milliseconds since 1970, after the process has ended. The commit ends later, after a
   * wait for the disk. A webhook must subscribe to `block.applied`.
   */
  commits(): Map<number, number>;
  /** Heights of deliveries by their ids, after the process has ended. */
  heights(): Map<string, number>;
  remove(): void;
};

export async function startBenchNode(): Promise<BenchNode> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-"));
  const node = spawnUniknode(
    ["dev", "--data", folder, "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN],
    { environment: { UNIKNODE_LOG_LEVEL: "silent" } },
  );
  const url = await apiUrlOf(node);
  const read = <K, V>(sql: string) => {
    const database = openDatabase(join(folder, "node.sqlite"), { readonly: true });
    try {
      return new Map(
        database
          .prepare<{ key: K; value: V }>(sql)
          .all()
          .map(({ key, value }) => [key, value]),
      );
    } finally {
      database.close();
    }
  };
  return {
    url: url,
    client: await connect(url),
    async post(path, body) {
      const response = await fetch(`${url}${path}`, {
        method: "POST",
        headers: { authorization: TOKEN, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text}`);
    },
    async stop() {
      node.child.kill("SIGINT");
      await node.ended;
    },
    commits: () =>
      read<number, number>(
        "SELECT height AS key, created_ms AS value FROM events WHERE name = 'block.applied'",
      ),
    heights: () =>
      read<string, number>("SELECT id AS key, height AS value FROM deliveries WHERE height IS NOT NULL"),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

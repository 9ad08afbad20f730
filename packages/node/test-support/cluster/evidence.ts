/** Evidence of a failed run: outputs of processes, calls of webhooks, and both databases. */
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";
import type { ClusterWebhook } from "./webhooks.ts";

/** Tables of which every row is saved as JSON. */
const TABLES = [
  ...["head", "event_log", "events", "shards", "webhook_register", "webhooks", "queues", "deliveries"],
  ...["attempts", "unconfirmed_events", "block_reverts", "delivery_workers"],
];

export type FailedRun = {
  readonly seed: number;
  readonly cluster: Pick<Cluster, "members" | "data" | "database">;
  readonly webhooks: readonly ClusterWebhook[];
  /** Log and report of the run. */
  readonly lines: readonly string[];
};

/** Returns the folder. */
export async function saveEvidence({ seed, cluster, webhooks, lines }: FailedRun): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `uniknode-cluster-seed-${seed}-`));
  writeFileSync(join(folder, "run.log"), `${lines.join("\n")}\n`);
  for (const { name, output } of cluster.members) writeFileSync(join(folder, `${name}.log`), output());
  for (const { id, receiver } of webhooks) {
    const calls = receiver.arrivals.map(({ body: _, ...call }) => JSON.stringify(call));
    writeFileSync(join(folder, `webhook-${id}.jsonl`), `${calls.join("\n")}\n`);
  }
  cpSync(cluster.data, join(folder, "node"), { recursive: true });
  for (const table of TABLES) {
    // The database may be what has failed.
    const rows = await cluster.database
      .postgres()
      .query<{ row: string }>(`SELECT row_to_json(${table})::text AS row FROM ${table}`)
      .catch(() => []);
    writeFileSync(join(folder, `${table}.jsonl`), rows.map(({ row }) => `${row}\n`).join(""));
  }
  return folder;
}

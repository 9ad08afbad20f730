/** Evidence of a failed run: the outputs of all processes, and the calls of all webhooks. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";
import type { ClusterWebhook } from "./webhooks.ts";

/** Returns the folder. */
export function saveEvidence(
  seed: number,
  { members }: Pick<Cluster, "members">,
  webhooks: readonly ClusterWebhook[],
): string {
  const folder = mkdtempSync(join(tmpdir(), `uniknode-cluster-seed-${seed}-`));
  for (const { name, output } of members) writeFileSync(join(folder, `${name}.log`), output());
  for (const { id, receiver } of webhooks) {
    const calls = receiver.arrivals.map(({ body: _, ...call }) => JSON.stringify(call));
    writeFileSync(join(folder, `webhook-${id}.jsonl`), `${calls.join("\n")}\n`);
  }
  return folder;
}

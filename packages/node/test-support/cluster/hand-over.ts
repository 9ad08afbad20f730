/** Hands the webhooks of a cluster over, by the command that users run. */
import { setTimeout as sleep } from "node:timers/promises";
import { TOKEN } from "../mirror/dev-chain.ts";
import { spawnUniknode } from "../process/uniknode.ts";
import type { Cluster } from "./cluster.ts";
import { databaseUrl } from "./members.ts";

export type HandOverTarget = "workers" | "node";

const RETRY_MS = 1_000;
const TIMEOUT_MS = 120_000;

/**
 * Runs the command until it succeeds: a database or a node may be down.
 *
 * @param killMs time after which each of the first commands is killed
 * @throws {Error} with the output of the last command, if none succeeds in time
 */
export async function handOver(
  { database, nodeUrl }: Pick<Cluster, "database" | "nodeUrl">,
  to: HandOverTarget,
  killMs: readonly number[] = [],
): Promise<void> {
  const endMs = performance.now() + TIMEOUT_MS;
  for (let attempt = 0; ; attempt++) {
    const url = databaseUrl(database.ports().primary);
    const command = spawnUniknode([
      ...["webhooks", "hand-over", "--to", to, "--database-url", url],
      ...["--node", nodeUrl, "--token", TOKEN],
    ]);
    const afterMs = killMs[attempt];
    const timer =
      afterMs === undefined ? undefined : setTimeout(() => command.child.kill("SIGKILL"), afterMs);
    const { code, stdout, stderr } = await command.ended;
    clearTimeout(timer);
    if (code === 0) return;
    if (performance.now() > endMs) throw new Error(`the hand-over to the ${to} fails: ${stdout}${stderr}`);
    await sleep(RETRY_MS);
  }
}

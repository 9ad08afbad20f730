/** Hands the webhooks of a cluster over, by the command that users run. */
import { type Ended, spawnUniknode } from "../../process/uniknode.ts";
import { until } from "../../process/until.ts";
import { TOKEN } from "../actors/control.ts";
import { type Cluster, databaseUrl } from "./cluster.ts";

export type HandOverTarget = "workers" | "node";

type Connected = Pick<Cluster, "database" | "chain">;

/**
 * Runs the command until it succeeds: a database or a node may be down.
 *
 * @param killMs time after which each of the first commands is killed
 * @throws {Error} with the output of the last command, if none succeeds in time
 */
export async function handOver(
  cluster: Connected,
  to: HandOverTarget,
  killMs: readonly number[] = [],
): Promise<void> {
  const remaining = [...killMs];
  await untilSuccess(async () => [await run(cluster, ["--to", to], remaining.shift())]);
}

/**
 * Begins to hand the webhooks over to the node, kills the command, and lets the workers keep them.
 *
 * @throws {Error} with the outputs of the last commands, if none succeeds in time
 */
export async function abandonHandOver(cluster: Connected, killMs: number): Promise<void> {
  await run(cluster, ["--to", "node"], killMs);
  await returnToWorkers((to, ...args) => run(cluster, ["--to", to, ...args]));
}

/**
 * Lets the workers own the webhooks: the hand-over to the node is cancelled, or made in the other direction once the node has
 * everything.
 *
 * @param command runs a hand-over command
 * @throws {Error} with the outputs of the last commands, if none succeeds in time
 */
export async function returnToWorkers(
  command: (to: HandOverTarget, ...args: string[]) => Promise<Ended>,
): Promise<void> {
  await untilSuccess(async () => {
    const cancelled = await command("node", "--cancel");
    if (cancelled.code === 0) return [cancelled];
    // It was killed before the database dropped its rows.
    const isLate = cancelled.stderr.includes("finish it with --to node");
    const finished = isLate ? [await command("node")] : [];
    return [await command("workers"), ...finished, cancelled];
  });
}

/** Repeats commands until the first one succeeds. */
async function untilSuccess(commands: () => Promise<readonly Ended[]>): Promise<void> {
  let outputs = "";
  await until(
    () => `the hand-over fails: ${outputs}`,
    async () => {
      const ended = await commands();
      outputs = ended.map(({ stdout, stderr }) => `${stdout}${stderr}`).join("; ");
      return ended[0]?.code === 0;
    },
  );
}

async function run({ database, chain }: Connected, args: readonly string[], killMs?: number): Promise<Ended> {
  const url = databaseUrl(database.portOf("primary"));
  const command = spawnUniknode([
    ...["webhooks", "hand-over", ...args, "--database-url", url],
    ...["--node", chain.url, "--token", TOKEN],
  ]);
  const timer = killMs === undefined ? undefined : setTimeout(() => command.child.kill("SIGKILL"), killMs);
  const ended = await command.ended;
  clearTimeout(timer);
  return ended;
}

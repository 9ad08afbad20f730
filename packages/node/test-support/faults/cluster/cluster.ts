/** A node, two mirrors, three API servers and three delivery workers around one database, connected as on separate machines. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "../../hand-over/chain.ts";
import { freePort } from "../../peers/world.ts";
import { urlOf } from "../../postgres/process.ts";
import { clockOptions, setClock } from "../../process/clock.ts";
import { type Ended, spawnUniknode } from "../../process/uniknode.ts";
import { until } from "../../process/until.ts";
import { ClusterDatabase, DATABASE, REPLICA_DATABASE } from "../actors/database.ts";
import { closeDevChain, type DevChain, startDevChain, TOKEN } from "../actors/dev-chain.ts";
import { Link, type LinkTarget } from "../actors/link.ts";
import { Member, type MemberOptions } from "../actors/member.ts";
import type { Subject } from "../actors/subject.ts";
import type { Run } from "../scenario.ts";

const CALL_TIMEOUT_SECONDS = 2;
/** Duration of a worker's lease: see `leaseMsFor`. */
export const LEASE_MS = (CALL_TIMEOUT_SECONDS + 10) * 1_000;
/** No delivery fails finally during a run. */
const RETRIES = [...Array(10).fill("1s"), ...Array(20).fill("3s")].join();
const DELIVERY_ARGS = [
  ...["--webhook-private-targets", "--webhook-timeout", `${CALL_TIMEOUT_SECONDS}`],
  ...["--webhook-retries", RETRIES],
];

export class Cluster {
  readonly chain: DevChain;
  readonly database: ClusterDatabase;
  readonly mirrors: Member[] = [];
  readonly servers: Member[] = [];
  readonly serverUrls: string[] = [];
  readonly workers: Member[] = [];
  readonly webhooks: Subject[] = [];
  /** Webhooks whose receivers may fail. */
  readonly restless: Subject[] = [];
  readonly #run: Run;

  constructor(run: Run, chain: DevChain, database: ClusterDatabase) {
    [this.#run, this.chain, this.database] = [run, chain, database];
  }

  static async start(run: Run): Promise<Cluster> {
    const args = ["--feed-blocks", "1000", "--rate-limit", "0", ...DELIVERY_ARGS];
    const chain = await startDevChain(run, args);
    let cluster: Cluster | undefined;
    try {
      cluster = new Cluster(run, chain, await ClusterDatabase.start());
      await cluster.#createMembers();
      return cluster;
    } catch (error) {
      await (cluster?.close() ?? closeDevChain(chain));
      throw error;
    }
  }

  get members(): readonly Member[] {
    return [this.chain.node, ...this.mirrors, ...this.servers, ...this.workers];
  }

  /** Sends connections to the servers that are primary and replica now. */
  reroute(): void {
    for (const { links } of this.members) for (const link of links) link.route(this.#portOf(link.to));
  }

  setClock({ name }: Member, aheadMs: number): void {
    setClock(join(this.#run.folder, name), aheadMs);
  }

  async close(): Promise<void> {
    for (const { receiver } of this.webhooks) await receiver.close();
    await Promise.all(this.members.map((member) => member.close()));
    await closeDevChain(this.chain);
    await Promise.all(this.members.flatMap(({ links }) => links.map((link) => link.close())));
    await this.database.close();
  }

  #portOf(to: LinkTarget): number {
    return to === "node" ? this.chain.port : this.database.portOf(to);
  }

  /** One process of each kind uses the pooler, if there is one. */
  async #createMembers(): Promise<void> {
    for (const role of ["primary", "pooler"] as const) {
      const name = `mirror-${this.mirrors.length + 1}`;
      const command = ["mirror", "--name", name];
      // It serves nothing, and is ready at once.
      this.mirrors.push(await this.#create(name, [role, "node"], command, { ready: /^/ }));
    }
    const pooled = this.database.hasPooler ? "pooler" : "replica";
    for (const role of ["primary", "replica", pooled] as const) {
      const port = await freePort();
      const name = `server-${this.servers.length + 1}`;
      const command = ["serve", "--http-port", `${port}`, "--rate-limit", "0"];
      const options = { database: role === "pooler" ? REPLICA_DATABASE : DATABASE };
      this.servers.push(await this.#create(name, [role, "node"], command, options));
      this.serverUrls.push(`http://127.0.0.1:${port}`);
    }
    for (const role of ["primary", "primary", "pooler"] as const) {
      const name = `worker-${this.workers.length + 1}`;
      const folder = join(this.#run.folder, name);
      mkdirSync(folder);
      setClock(folder, 0);
      const command = ["deliver", "--name", name, "--operations-port", "0", ...DELIVERY_ARGS];
      this.workers.push(await this.#create(name, [role], command, { spawn: clockOptions(folder) }));
    }
  }

  /** Creates a process that reaches its database, and its node if it has one, through links. */
  async #create(
    name: string,
    connectsTo: readonly LinkTarget[],
    command: readonly string[],
    { database = DATABASE, ...options }: Partial<MemberOptions> & { readonly database?: string },
  ): Promise<Member> {
    const links = connectsTo.map((to) => new Link(to, this.#portOf(to)));
    await Promise.all(links.map((link) => link.listen()));
    const [port = 0, node] = links.map(({ port }) => port);
    const args = [
      ...[...command, "--database-url", urlOf(port, database)],
      ...(node === undefined ? [] : ["--node", `http://127.0.0.1:${node}`, "--token", TOKEN]),
    ];
    // Lines of the log can name other URLs.
    return new Member({ name, args, links, ready: /http:\S+\n/, faults: this.#run.faults, ...options });
  }
}

/** Repeats the command until it succeeds: a database or a node may be down. The first commands are killed after `killMs`. */
export async function handOver(cluster: Cluster, to: Owner, killMs: readonly number[] = []): Promise<void> {
  const remaining = [...killMs];
  await untilSuccess(async () => [await runHandOver(cluster, ["--to", to], remaining.shift())]);
}

/** Begins to hand the webhooks over to the node, kills the command, and lets the workers keep them. */
export async function abandonHandOver(cluster: Cluster, killMs: number): Promise<void> {
  await runHandOver(cluster, ["--to", "node"], killMs);
  await returnToWorkers((to, ...args) => runHandOver(cluster, ["--to", to, ...args]));
}

/** Cancels the hand-over to the node, or finishes it and hands the webhooks over to the workers. */
export async function returnToWorkers(
  command: (to: Owner, ...args: string[]) => Promise<Ended>,
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

async function runHandOver(
  { database, chain }: Cluster,
  args: readonly string[],
  killMs?: number,
): Promise<Ended> {
  const command = spawnUniknode([
    ...["webhooks", "hand-over", ...args, "--database-url", urlOf(database.portOf("primary"), DATABASE)],
    ...["--node", chain.url, "--token", TOKEN],
  ]);
  const timer = killMs === undefined ? undefined : setTimeout(() => command.child.kill("SIGKILL"), killMs);
  const ended = await command.ended;
  clearTimeout(timer);
  return ended;
}

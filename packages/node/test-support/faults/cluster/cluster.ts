/**
 * One node with a dev chain, two mirrors, three API servers and three delivery workers around one database, each with its own
 * connections, as on separate machines.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { present } from "../../../src/platform/present.ts";
import { freePort } from "../../peers/world.ts";
import { USER } from "../../postgres/process.ts";
import type { Client } from "../../process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../process/uniknode.ts";
import { clockOptions, setClock } from "../actors/clock.ts";
import { type Control, connectTo, createControl, TOKEN } from "../actors/control.ts";
import {
  type ClusterDatabase,
  DATABASE,
  type Pooler,
  REPLICA_DATABASE,
  startDatabase,
  startPooler,
} from "../actors/database.ts";
import { type Link, type LinkTarget, startLink } from "../actors/link.ts";
import { createMember, type Member } from "../actors/member.ts";

/** A process with its connections to other machines. */
export type ClusterMember = Member & { readonly links: readonly Link[] };
/** Its clock can be moved. */
export type WorkerMember = ClusterMember & { setClock(aheadMs: number): void };
export type ServerMember = ClusterMember & { readonly url: string };

export type Cluster = {
  readonly database: ClusterDatabase;
  /** Undefined where pgbouncer is not installed. */
  readonly pooler: Pooler | undefined;
  readonly node: ClusterMember;
  readonly mirrors: readonly ClusterMember[];
  readonly servers: readonly ServerMember[];
  readonly workers: readonly WorkerMember[];
  /** All processes. */
  readonly members: readonly ClusterMember[];
  /** Base URL of the node. */
  readonly nodeUrl: string;
  readonly control: Control;
  readonly client: Client;
  /** Data folder of the node. */
  readonly data: string;
  /** Failures of processes. */
  readonly faults: readonly string[];
  /** Sends connections to the servers that are primary and replica now. */
  reroute(): void;
  close(): Promise<void>;
};

const MIRRORS = 2;
const SERVERS = 3;
const WORKERS = 3;
/** Timeout of a call in seconds. */
const CALL_TIMEOUT_SECONDS = 2;
/** Duration of a worker's lease: see `leaseMsFor`. */
export const LEASE_MS = (CALL_TIMEOUT_SECONDS + 10) * 1_000;
/** No delivery fails finally during a run. */
const RETRIES = [...Array(10).fill("1s"), ...Array(20).fill("3s")].join();
/** Arguments of all processes that deliver. */
const DELIVERY_ARGS = [
  ...["--webhook-private-targets", "--webhook-timeout", `${CALL_TIMEOUT_SECONDS}`],
  ...["--webhook-retries", RETRIES],
];
/** Number of last blocks in the feed. */
const FEED_BLOCKS = 1_000;

/** Connections of a process. */
type Around = {
  /** Folder for the data of all processes. */
  readonly folder: string;
  readonly database: Pick<ClusterDatabase, "ports">;
  /** Used by one process of each kind. */
  readonly pooler: Pick<Pooler, "port"> | undefined;
  /** Port of the node's API. */
  readonly nodePort: number;
  readonly onFault: (fault: string) => void;
};

/**
 * Starts the database and the node, and creates the other processes.
 *
 * @param folder for the data of all processes
 */
export async function startCluster(folder: string): Promise<Cluster> {
  const faults: string[] = [];
  const onFault = (fault: string) => void faults.push(fault);
  const nodePort = await freePort();
  const data = join(folder, "data");
  const node = createNode({ data, nodePort, onFault });
  const members: ClusterMember[] = [node];
  const [database] = await Promise.all([startDatabase(), node.start()]).catch(async (error: unknown) => {
    await node.close();
    throw error;
  });
  let pooler: Pooler | undefined;
  const close = async () => {
    await Promise.all(members.map((member) => member.close()));
    await Promise.all(members.flatMap(({ links }) => links).map((link) => link.close()));
    await pooler?.stop();
    await database.close();
  };
  try {
    pooler = await startPooler(database);
    const around: Around = { folder, database, pooler, nodePort, onFault };
    const nodeUrl = `http://127.0.0.1:${nodePort}`;
    const mirrors = await several(MIRRORS, (number) => createMirror(around, number));
    const servers = await several(SERVERS, (number) => createServer(around, number));
    const workers = await several(WORKERS, (number) => createWorker(around, number));
    members.push(...mirrors, ...servers, ...workers);
    return {
      ...{ database, pooler, node, mirrors, servers, workers, members, nodeUrl, data, faults, close },
      control: createControl(nodeUrl),
      client: await connectTo(nodeUrl),
      reroute() {
        pooler?.reroute();
        for (const link of members.flatMap(({ links }) => links)) link.route(portOf(around, link.to));
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const several = <T>(count: number, create: (number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => create(index + 1)));

function createNode({
  data,
  nodePort,
  onFault,
}: Pick<Around, "nodePort" | "onFault"> & { readonly data: string }): ClusterMember {
  const args = [
    ...["dev", "--data", data, "--http-port", `${nodePort}`, "--block-time", "1"],
    ...["--webhook-token", TOKEN, "--feed-blocks", `${FEED_BLOCKS}`, "--rate-limit", "0", ...DELIVERY_ARGS],
  ];
  const member = createMember({ name: "node", spawn: () => spawnUniknode(args), ready: apiUrlOf, onFault });
  return { ...member, links: [] };
}

async function createMirror(around: Around, number: number): Promise<ClusterMember> {
  const name = `mirror-${number}`;
  const database = await linkTo(around, poolerFor(around, number === 2) ?? "primary");
  const node = await linkTo(around, "node");
  const args = ["mirror", "--database-url", databaseUrl(database.port), "--name", name, ...nodeArgs(node)];
  // It serves nothing, and waits for its node and its database.
  const ready = async () => {};
  const member = createMember({ name, spawn: () => spawnUniknode(args), ready, onFault: around.onFault });
  return { ...member, links: [database, node] };
}

/** The first API server reads from the primary, the others from the replica, the third one through the pooler. */
async function createServer(around: Around, number: number): Promise<ServerMember> {
  const name = `server-${number}`;
  const pooler = poolerFor(around, number === 3);
  const database = await linkTo(around, pooler ?? (number === 1 ? "primary" : "replica"));
  const node = await linkTo(around, "node");
  const port = await freePort();
  const url = databaseUrl(database.port, pooler && REPLICA_DATABASE);
  const args = [
    ...["serve", "--database-url", url, "--http-port", `${port}`, "--rate-limit", "0"],
    ...nodeArgs(node),
  ];
  const spawn = () => spawnUniknode(args);
  const member = createMember({ name, spawn, ready: printedUrl, onFault: around.onFault });
  return { ...member, links: [database, node], url: `http://127.0.0.1:${port}` };
}

async function createWorker(around: Around, number: number): Promise<WorkerMember> {
  const name = `worker-${number}`;
  const folder = join(around.folder, name);
  mkdirSync(folder);
  setClock(folder, 0);
  const database = await linkTo(around, poolerFor(around, number === 3) ?? "primary");
  const args = [
    ...["deliver", "--database-url", databaseUrl(database.port), "--name", name, "--operations-port", "0"],
    ...DELIVERY_ARGS,
  ];
  const spawn = () => spawnUniknode(args, clockOptions(folder));
  const member = createMember({ name, spawn, ready: printedUrl, onFault: around.onFault });
  return { ...member, links: [database], setClock: (aheadMs) => setClock(folder, aheadMs) };
}

const printedUrl = (process: Running) => process.printed(/(http:\S+)\n/);

const nodeArgs = ({ port }: Link): string[] => ["--node", `http://127.0.0.1:${port}`, "--token", TOKEN];

/** Returns the URL of the database on a port of this machine. */
export const databaseUrl = (port: number, name = DATABASE): string =>
  `postgres://${USER}@127.0.0.1:${port}/${name}`;

const poolerFor = ({ pooler }: Around, isPooled: boolean): "pooler" | undefined =>
  pooler && isPooled ? "pooler" : undefined;

const linkTo = (around: Around, to: LinkTarget): Promise<Link> => startLink(to, portOf(around, to));

/** Returns the port of the server that has this role now. */
function portOf({ database, pooler, nodePort }: Around, to: LinkTarget): number {
  if (to === "node") return nodePort;
  return to === "pooler" ? present(pooler).port : database.ports()[to];
}

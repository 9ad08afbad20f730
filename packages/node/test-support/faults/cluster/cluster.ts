/**
 * One node with a dev chain, two mirrors, three API servers and three delivery workers around one database, each with its own
 * connections, as on separate machines.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../peers/world.ts";
import { USER } from "../../postgres/process.ts";
import { clockOptions, setClock } from "../../process/clock.ts";
import { type Running, type SpawnOptions, spawnUniknode } from "../../process/uniknode.ts";
import { TOKEN } from "../actors/control.ts";
import { ClusterDatabase, DATABASE, REPLICA_DATABASE } from "../actors/database.ts";
import { type DevChain, startDevChain } from "../actors/dev-chain.ts";
import { type Link, type LinkTarget, startLink } from "../actors/link.ts";
import { createMember, type Member } from "../actors/member.ts";
import type { Run } from "../scenario.ts";

/** A process with its connections to other machines. */
export type ClusterMember = Member & { readonly links: readonly Link[] };

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

const MIRRORS = 2;
const SERVERS = 3;
const WORKERS = 3;
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
const FEED_BLOCKS = 1_000;

type Around = Pick<Run, "folder" | "faults"> & {
  readonly database: ClusterDatabase;
  readonly chain: DevChain;
};

/** Starts the database and the node, and creates the other processes. */
export async function startCluster({ folder, faults }: Pick<Run, "folder" | "faults">) {
  const args = ["--feed-blocks", `${FEED_BLOCKS}`, "--rate-limit", "0", ...DELIVERY_ARGS];
  const chain = await startDevChain({ folder, faults }, args);
  const members: ClusterMember[] = [{ ...chain.node, links: [] }];
  const linksOf = () => members.flatMap(({ links }) => links);
  let database: ClusterDatabase | undefined;
  const close = async () => {
    await Promise.all(members.map((member) => member.close()));
    await chain.close();
    await Promise.all(linksOf().map((link) => link.close()));
    await database?.close();
  };
  try {
    database = await ClusterDatabase.start();
    const around: Around = { folder, faults, database, chain };
    const mirrors = await several(MIRRORS, (number) => createMirror(around, number));
    const servers = await several(SERVERS, (number) => createServer(around, number));
    const workers = await several(WORKERS, (number) => createWorker(around, number));
    members.push(...mirrors, ...servers, ...workers);
    return {
      ...{ chain, database, mirrors, servers, workers, members, close },
      /** Sends connections to the servers that are primary and replica now. */
      reroute() {
        for (const link of linksOf()) link.route(portOf(around, link.to));
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const several = <T>(count: number, create: (number: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => create(index + 1)));

type Process = SpawnOptions & {
  readonly name: string;
  readonly connectsTo: readonly LinkTarget[];
  /** Returns the arguments, from the ports of these connections. */
  readonly argumentsOf: (...ports: number[]) => readonly string[];
  /** Default: when it has printed its URL. */
  readonly ready?: (process: Running) => Promise<unknown>;
};

async function createProcess(
  around: Around,
  { name, connectsTo, argumentsOf, ready = printedUrl, ...options }: Process,
): Promise<ClusterMember> {
  const links = await Promise.all(connectsTo.map((to) => startLink(to, portOf(around, to))));
  const args = argumentsOf(...links.map(({ port }) => port));
  const spawn = () => spawnUniknode(args, options);
  return { ...createMember({ name, spawn, ready, faults: around.faults }), links };
}

/** One process of each kind uses the pooler, if there is one. */
function createMirror(around: Around, number: number): Promise<ClusterMember> {
  const name = `mirror-${number}`;
  return createProcess(around, {
    name,
    connectsTo: [number === 2 ? "pooler" : "primary", "node"],
    argumentsOf: (database = 0, node = 0) => [
      ...["mirror", "--database-url", databaseUrl(database), "--name", name, ...nodeArgs(node)],
    ],
    // It serves nothing, and waits for its node and its database.
    ready: async () => {},
  });
}

/** The first API server reads from the primary, the others from the replica, the third one through the pooler. */
async function createServer(around: Around, number: number) {
  const isPooled = number === 3 && around.database.hasPooler;
  const port = await freePort();
  const member = await createProcess(around, {
    name: `server-${number}`,
    connectsTo: [isPooled ? "pooler" : number === 1 ? "primary" : "replica", "node"],
    argumentsOf: (database = 0, node = 0) => [
      ...["serve", "--database-url", databaseUrl(database, isPooled ? REPLICA_DATABASE : DATABASE)],
      ...["--http-port", `${port}`, "--rate-limit", "0", ...nodeArgs(node)],
    ],
  });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

/** The clock of a worker can be moved. */
async function createWorker(around: Around, number: number) {
  const name = `worker-${number}`;
  const folder = join(around.folder, name);
  mkdirSync(folder);
  setClock(folder, 0);
  const member = await createProcess(around, {
    name,
    connectsTo: [number === 3 ? "pooler" : "primary"],
    argumentsOf: (database = 0) => [
      ...["deliver", "--database-url", databaseUrl(database), "--name", name, "--operations-port", "0"],
      ...DELIVERY_ARGS,
    ],
    ...clockOptions(folder),
  });
  return { ...member, setClock: (aheadMs: number) => setClock(folder, aheadMs) };
}

const printedUrl = (process: Running) => process.printed(/(http:\S+)\n/);

const nodeArgs = (port: number): string[] => ["--node", `http://127.0.0.1:${port}`, "--token", TOKEN];

/** Returns the URL of the database on a port of this machine. */
export const databaseUrl = (port: number, name = DATABASE): string =>
  `postgres://${USER}@127.0.0.1:${port}/${name}`;

/** Returns the port of the server that has this role now. */
const portOf = ({ database, chain }: Around, to: LinkTarget): number =>
  to === "node" ? chain.port : database.portOf(to);

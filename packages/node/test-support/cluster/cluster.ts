/** One node with a dev chain, two mirrors, three API servers and three delivery workers around one database. */
import { freePort } from "../peers/world.ts";
import type { Client } from "../process/client.ts";
import { connectTo } from "../simulation/life.ts";
import { type ClusterDatabase, startDatabase } from "./database.ts";
import type { Member } from "./machine.ts";
import {
  createMirror,
  createNode,
  createServer,
  createWorker,
  dataOf,
  portOf,
  type ServerMember,
} from "./members.ts";
import { type Pooler, startPooler } from "./pooler.ts";

export type Cluster = {
  readonly database: ClusterDatabase;
  /** Undefined where pgbouncer is not installed. */
  readonly pooler: Pooler | undefined;
  readonly node: Member;
  readonly mirrors: readonly Member[];
  readonly servers: readonly ServerMember[];
  readonly workers: readonly Member[];
  /** All processes. */
  readonly members: readonly Member[];
  /** Base URL of the node. */
  readonly nodeUrl: string;
  /** Base URLs of the API servers. */
  readonly serverUrls: readonly string[];
  /** Client of the node. */
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

/**
 * Starts the database and the node, and creates the other processes.
 *
 * @param folder for the data of all processes
 */
export async function startCluster(folder: string): Promise<Cluster> {
  const faults: string[] = [];
  const onFault = (fault: string) => void faults.push(fault);
  const nodePort = await freePort();
  const node = createNode({ folder, nodePort, onFault });
  const members: Member[] = [node];
  const [database] = await Promise.all([startDatabase(), node.start()]).catch(async (error: unknown) => {
    await node.close();
    throw error;
  });
  let pooler: Pooler | undefined;
  const close = async () => {
    await closeMembers(members);
    await pooler?.stop();
    await database.close();
  };
  try {
    pooler = await startPooler(database);
    const around = { folder, database, pooler, nodePort, onFault };
    const nodeUrl = `http://127.0.0.1:${nodePort}`;
    const mirrors = await several(MIRRORS, (number) => createMirror(around, number));
    const servers = await several(SERVERS, (number) => createServer(around, number));
    const workers = await several(WORKERS, (number) => createWorker(around, number));
    members.push(...mirrors, ...servers, ...workers);
    return {
      ...{ database, pooler, node, mirrors, servers, workers, members, nodeUrl, faults, close },
      serverUrls: servers.map(({ url }) => url),
      client: await connectTo(nodeUrl),
      data: dataOf(around),
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

async function closeMembers(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.close()));
  await Promise.all(members.flatMap(({ links }) => links).map((link) => link.close()));
}

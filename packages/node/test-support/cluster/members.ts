/** The processes of a cluster, each with its own connections to the database and to the node, as on separate machines. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { present } from "../../src/platform/present.ts";
import { TOKEN } from "../mirror/dev-chain.ts";
import { freePort } from "../peers/world.ts";
import { USER } from "../postgres/process.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../process/uniknode.ts";
import { setClock, spawnWithClock } from "../simulation/life.ts";
import { type ClusterDatabase, DATABASE } from "./database.ts";
import { type Link, type LinkTarget, startLink } from "./link.ts";
import { createMember, type Member, type MemberOptions } from "./machine.ts";
import { type Pooler, REPLICA_DATABASE } from "./pooler.ts";

export type MemberContext = Pick<MemberOptions, "onFault"> & {
  /** Folder for the data of all processes. */
  readonly folder: string;
  readonly database: Pick<ClusterDatabase, "ports">;
  /** Used by one process of each kind. */
  readonly pooler: Pick<Pooler, "port"> | undefined;
  /** Port of the node's API. */
  readonly nodePort: number;
};

/** Timeout of a call in seconds. */
const CALL_TIMEOUT_SECONDS = 2;
/** Duration of a worker's lease: see `leaseMsFor`. */
export const LEASE_MS = (CALL_TIMEOUT_SECONDS + 10) * 1_000;
/** No delivery fails finally during a run. */
const RETRIES = [...Array(10).fill("1s"), ...Array(20).fill("3s")].join();
/** Arguments of all processes that deliver. */
const DELIVERY_ARGS = [
  ...[
    "--webhook-private-targets",
    "--webhook-timeout",
    `${CALL_TIMEOUT_SECONDS}`,
    "--webhook-retries",
    RETRIES,
  ],
];
/** Number of last blocks in the feed. */
const FEED_BLOCKS = 1_000;

export const dataOf = ({ folder }: Pick<MemberContext, "folder">): string => join(folder, "data");

export function createNode(around: Omit<MemberContext, "database" | "pooler">): Member {
  const args = [
    ...["dev", "--data", dataOf(around), "--http-port", `${around.nodePort}`, "--block-time", "1"],
    ...["--webhook-token", TOKEN, "--feed-blocks", `${FEED_BLOCKS}`, "--rate-limit", "0", ...DELIVERY_ARGS],
  ];
  return createMember({
    ...{ name: "node", kind: "node", links: [], onFault: around.onFault },
    spawn: () => spawnUniknode(args),
    ready: apiUrlOf,
  });
}

export async function createMirror(around: MemberContext, number: number): Promise<Member> {
  const name = `mirror-${number}`;
  const database = await linkTo(around, poolerFor(around, number === 2) ?? "primary");
  const node = await linkTo(around, "node");
  const args = [
    ...["mirror", "--database-url", urlThrough(database), "--name", name],
    ...["--node", `http://127.0.0.1:${node.port}`, "--token", TOKEN],
  ];
  return createMember({
    ...{ name, kind: "mirror", links: [database, node], onFault: around.onFault },
    spawn: () => spawnUniknode(args),
    // It serves nothing, and waits for its node and its database.
    ready: async () => {},
  });
}

export type ServerMember = Member & { readonly url: string };

/** Creates an API server; the first one reads from the primary, the others from the replica, the third one through the pooler. */
export async function createServer(around: MemberContext, number: number): Promise<ServerMember> {
  const pooler = poolerFor(around, number === 3);
  const database = await linkTo(around, pooler ?? (number === 1 ? "primary" : "replica"));
  const url = databaseUrl(database.port, pooler && REPLICA_DATABASE);
  const node = await linkTo(around, "node");
  const port = await freePort();
  const args = [
    ...["serve", "--database-url", url, "--http-port", `${port}`, "--rate-limit", "0"],
    ...["--node", `http://127.0.0.1:${node.port}`, "--token", TOKEN],
  ];
  const member = createMember({
    ...{ name: `server-${number}`, kind: "server", links: [database, node], onFault: around.onFault },
    spawn: () => spawnUniknode(args),
    ready: printedUrl,
  });
  return { ...member, url: `http://127.0.0.1:${port}` };
}

export async function createWorker(around: MemberContext, number: number): Promise<Member> {
  const name = `worker-${number}`;
  const folder = join(around.folder, name);
  mkdirSync(folder);
  setClock(folder, 0);
  const database = await linkTo(around, poolerFor(around, number === 3) ?? "primary");
  const args = [
    ...["deliver", "--database-url", urlThrough(database), "--name", name, "--operations-port", "0"],
    ...DELIVERY_ARGS,
  ];
  return createMember({
    ...{ name, kind: "worker", links: [database], onFault: around.onFault },
    spawn: () => spawnWithClock(folder, args),
    ready: printedUrl,
    setClock: (aheadMs) => setClock(folder, aheadMs),
  });
}

const printedUrl = (process: Running) => process.printed(/(http:\S+)\n/);

/** Returns the URL of the database on a port of this machine. */
export const databaseUrl = (port: number, name = DATABASE): string =>
  `postgres://${USER}@127.0.0.1:${port}/${name}`;

const urlThrough = ({ port }: Link): string => databaseUrl(port);

const poolerFor = ({ pooler }: MemberContext, isPooled: boolean): "pooler" | undefined =>
  pooler && isPooled ? "pooler" : undefined;

const linkTo = (around: MemberContext, to: LinkTarget): Promise<Link> => startLink(to, portOf(around, to));

/** Returns the port of the server that has this role now. */
export function portOf(
  { database, pooler, nodePort }: Pick<MemberContext, "database" | "pooler" | "nodePort">,
  to: LinkTarget,
): number {
  if (to === "node") return nodePort;
  return to === "pooler" ? present(pooler).port : database.ports()[to];
}

/** Debian's PostgreSQL with a streaming replica, and Debian's pgbouncer in transaction mode. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../peers/world.ts";
import { missingProgram } from "../process/available.ts";
import {
  createServerFolder,
  endServer,
  giveToServer,
  INITDB_OPTIONS,
  missingForServers,
  runAsServer,
  spawnAsServer,
  startServer,
  toArguments,
  USER,
  urlOf,
} from "./process.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";
const PGBOUNCER = "/usr/sbin/pgbouncer";

const missingFor = (program: string): string | undefined => missingProgram(program) ?? missingForServers();

/** Returns why a replica cannot run here, or undefined. */
export const missingForReplica = (): string | undefined => missingFor(join(PROGRAMS, "pg_basebackup"));

/** Returns why pgbouncer cannot run here, or undefined. */
export const missingForPgbouncer = (): string | undefined => missingFor(PGBOUNCER);

/** Returns why a cluster cannot run here, or undefined. */
export const missingForCluster = (): string | undefined => missingForReplica() ?? missingForPgbouncer();

export type ClusterServer = {
  readonly port: number;
  urlOf(database: string): string;
  start(): Promise<void>;
  /** Ends the server: SIGKILL is a crash, SIGINT a fast shutdown. */
  end(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  /** Ends the server, and removes its folder. */
  remove(): Promise<void>;
};

const program = (name: string): string => join(PROGRAMS, name);

/**
 * Starts an empty server that replicas can copy.
 *
 * @param parent folder for the data of the server, which must be able to enter it
 */
export async function startPrimary(
  settings: Readonly<Record<string, string>> = {},
  parent?: string,
): Promise<ClusterServer> {
  const folder = createServerFolder(parent);
  await runAsServer(program("initdb"), ["-D", join(folder, "data"), ...INITDB_OPTIONS], folder);
  return startIn(folder, settings);
}

/** Copies a running server, and starts the copy as its replica. */
export async function startReplica(
  { port }: ClusterServer,
  settings: Readonly<Record<string, string>> = {},
): Promise<ClusterServer> {
  const folder = createServerFolder();
  const from = ["-h", "127.0.0.1", "-p", `${port}`, "-U", USER];
  const options = ["-D", join(folder, "data"), "--write-recovery-conf", "--checkpoint=fast", "--no-sync"];
  await runAsServer(program("pg_basebackup"), [...from, ...options], folder);
  return startIn(folder, settings);
}

async function startIn(folder: string, settings: Readonly<Record<string, string>>): Promise<ClusterServer> {
  const port = await freePort();
  const args = ["-D", join(folder, "data"), "-p", `${port}`, "-k", folder, ...toArguments(settings)];
  const spawnServer = () => spawnAsServer(program("postgres"), args, folder);
  let child = await startServer(spawnServer, urlOf(port, "postgres"));
  return {
    port,
    urlOf: (database) => urlOf(port, database),
    async start() {
      child = await startServer(spawnServer, urlOf(port, "postgres"));
    },
    end: (signal) => endServer(child, signal),
    async remove() {
      await endServer(child, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Pgbouncer = {
  readonly port: number;
  urlOf(name: string): string;
  /** Sends the connections of each name to the database of a server. */
  route(routes: Routes): void;
  /** Starts it again after `kill`. */
  start(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
};

/** Servers by the name of the database that clients use; all of them have the same database. */
export type Routes = Readonly<Record<string, Pick<ClusterServer, "port">>>;

/** Starts pgbouncer with its defaults, apart from the mode and the access. */
export async function startPgbouncer(database: string, routes: Routes): Promise<Pgbouncer> {
  const folder = createServerFolder();
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  writeFileSync(users, `"${USER}" ""\n`);
  giveToServer(users);
  const write = (routes: Routes) => writeFileSync(file, configuration(folder, port, database, routes));
  write(routes);
  giveToServer(file);
  const [name = database] = Object.keys(routes);
  const start = () => startServer(() => spawnAsServer(PGBOUNCER, [file], folder), urlOf(port, name));
  let child = await start();
  return {
    port,
    urlOf: (name) => urlOf(port, name),
    async start() {
      child = await start();
    },
    kill: () => endServer(child, "SIGKILL"),
    route(routes) {
      write(routes);
      child.kill("SIGHUP");
    },
    async stop() {
      await endServer(child, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configuration = (folder: string, port: number, database: string, routes: Routes): string =>
  [
    "[databases]",
    ...Object.entries(routes).map(
      ([name, server]) => `${name} = host=127.0.0.1 port=${server.port} dbname=${database}`,
    ),
    "[pgbouncer]",
    ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =", "pool_mode = transaction"],
    ...["auth_type = trust", `auth_file = ${join(folder, "users.txt")}`, `admin_users = ${USER}`],
    ...["server_login_retry = 1", ""],
  ].join("\n");

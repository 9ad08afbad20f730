/**
 * The database of the cluster: a PostgreSQL server with a synchronous streaming replica, where Debian's PostgreSQL is installed;
 * otherwise one server.
 */
import type { Postgres } from "../../../src/postgres/connection.ts";
import {
  type ClusterServer,
  missingForPgbouncer,
  missingForReplica,
  type Pgbouncer,
  startPgbouncer,
  startPrimary,
  startReplica,
} from "../../postgres/cluster.ts";
import { connect, startPostgres } from "../../postgres/server.ts";
import { mountSmallDisk, type SmallDisk } from "../../postgres/small-disk.ts";

export const DATABASE = "chain";

export type ClusterDatabase = {
  readonly hasReplica: boolean;
  /** Ports of the server that writes, and of the server for reads: the same one while there is no replica. */
  ports(): { readonly primary: number; readonly replica: number };
  /** Connections of the run itself to the primary. */
  postgres(): Postgres;
  /** Kills the primary, which loses commits that did not wait for the disk, and starts it again. */
  crash(downMs: number): Promise<void>;
  /**
   * Stops the replica, kills the primary after some time, and promotes the replica, which lacks the commits of that time.
   * `addReplica` must follow.
   */
  promote(lostMs: number): Promise<void>;
  /** Starts a replica of the primary. Commits that wait for the disk then wait for the replica, too. */
  addReplica(): Promise<void>;
  /** Fills the disk of the primary; undefined if it has no small disk. */
  readonly fill: (() => () => void) | undefined;
  /** Starts the primary if it has ended by itself. */
  ensureRunning(): Promise<void>;
  close(): Promise<void>;
};

/** Commits that do not wait for the disk reach it so late that a crash loses some. */
const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: "120",
  wal_writer_delay: "10s",
  hot_standby_feedback: "on",
  wal_retrieve_retry_interval: "500ms",
};
/** Enough for the log of some minutes. */
const DISK_MB = 600;

type State = {
  primary: ClusterServer;
  replica: ClusterServer | undefined;
  postgres: Postgres;
  /** Disk of the first primary. */
  disk: SmallDisk | undefined;
  isClosed: boolean;
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts the primary; `addReplica` must follow, if there can be a replica. */
export async function startDatabase(): Promise<ClusterDatabase> {
  const hasReplica = missingForReplica() === undefined;
  const disk = mountSmallDisk(DISK_MB);
  const primary = await (hasReplica ? startPrimary(SETTINGS, disk?.path) : startSingle(disk?.path));
  const first = connect(primary.urlOf("postgres"));
  await first.query(`CREATE DATABASE ${DATABASE}`);
  await first.close();
  const state: State = {
    primary,
    replica: undefined,
    postgres: connect(primary.urlOf(DATABASE)),
    disk,
    isClosed: false,
  };
  return {
    hasReplica,
    ports: () => ({ primary: state.primary.port, replica: (state.replica ?? state.primary).port }),
    postgres: () => state.postgres,
    async crash(downMs) {
      await state.primary.end("SIGKILL");
      await pause(downMs);
      if (!state.isClosed) await state.primary.start();
    },
    promote: (lostMs) => promote(state, lostMs),
    addReplica: () => addReplica(state),
    get fill() {
      return state.disk && state.primary === primary ? state.disk.fill : undefined;
    },
    ensureRunning: () => ensureRunning(state),
    close: () => close(state),
  };
}

async function addReplica(state: State): Promise<void> {
  if (state.isClosed) return;
  state.replica = await startReplica(state.primary, SETTINGS);
  await state.postgres.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await state.postgres.query("SELECT pg_reload_conf()");
}

async function promote(state: State, lostMs: number): Promise<void> {
  const { primary, replica, postgres } = state;
  if (!replica) return;
  await replica.end("SIGINT");
  await pause(lostMs);
  await primary.end("SIGKILL");
  if (state.isClosed) return;
  await replica.start();
  state.primary = replica;
  state.replica = undefined;
  state.postgres = connect(replica.urlOf(DATABASE));
  await state.postgres.query("SELECT pg_promote()");
  await postgres.close();
  await primary.remove();
}

async function ensureRunning({ primary, postgres }: State): Promise<void> {
  const isReachable = await postgres.query("SELECT 1").then(
    () => true,
    () => false,
  );
  if (isReachable) return;
  await primary.end("SIGKILL");
  await primary.start();
}

async function close(state: State): Promise<void> {
  const { primary, replica, postgres, disk } = state;
  state.isClosed = true;
  await postgres.close();
  await replica?.remove();
  await primary.remove();
  disk?.remove();
}

/** Starts the server of the npm package, which cannot have a replica. */
async function startSingle(parent: string | undefined): Promise<ClusterServer> {
  const server = await startPostgres(SETTINGS, parent);
  const url = new URL(await server.createDatabase("unused"));
  return {
    port: Number(url.port),
    urlOf: (database) => Object.assign(new URL(url), { pathname: `/${database}` }).href,
    start: server.resume,
    end: server.end,
    remove: server.stop,
  };
}

export type Pooler = Pick<Pgbouncer, "port" | "stop"> & {
  /** Sends connections to the servers that are primary and replica now. */
  reroute(): void;
  /** Kills it, and starts it again after some time. */
  crash(downMs: number): Promise<void>;
};

/** Name of the database for reads from the replica; the other name is that of the primary. */
export const REPLICA_DATABASE = `${DATABASE}_replica`;

/** Starts Debian's pgbouncer in transaction mode before the database, for some of the processes. Returns undefined where pgbouncer is not installed. */
export async function startPooler({ ports }: Pick<ClusterDatabase, "ports">): Promise<Pooler | undefined> {
  if (missingForPgbouncer() !== undefined) return undefined;
  const routes = () => {
    const { primary, replica } = ports();
    return { [DATABASE]: { port: primary }, [REPLICA_DATABASE]: { port: replica } };
  };
  const pgbouncer = await startPgbouncer(DATABASE, routes());
  let isStopped = false;
  return {
    port: pgbouncer.port,
    reroute: () => pgbouncer.route(routes()),
    async crash(downMs) {
      await pgbouncer.kill();
      await pause(downMs);
      if (!isStopped) await pgbouncer.start();
    },
    async stop() {
      isStopped = true;
      await pgbouncer.stop();
    },
  };
}

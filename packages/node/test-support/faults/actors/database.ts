/** The database of the cluster: PostgreSQL with a synchronous replica, and pgbouncer, if Debian's programs are installed. */
import { setTimeout as sleep } from "node:timers/promises";
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
import { urlOf } from "../../postgres/process.ts";
import { connect, startPostgres } from "../../postgres/server.ts";
import { mountSmallDisk, type SmallDisk } from "../../postgres/small-disk.ts";

export const DATABASE = "chain";
/** Name of the database for reads from the replica through the pooler; the other name is that of the primary. */
export const REPLICA_DATABASE = `${DATABASE}_replica`;

/** Commits that do not wait for the disk reach it so late that a crash loses some. */
const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: "120",
  wal_writer_delay: "10s",
  hot_standby_feedback: "on",
  wal_retrieve_retry_interval: "500ms",
};
/** Enough for the log of some minutes. */
const DISK_MB = 600;

export class ClusterDatabase {
  readonly hasReplica = missingForReplica() === undefined;
  /** Connections of the run itself to the primary. */
  postgres: Postgres;
  /** Disk of the first primary. */
  readonly #disk: SmallDisk | undefined;
  readonly #first: ClusterServer;
  #primary: ClusterServer;
  #replica: ClusterServer | undefined;
  #pooler: Pgbouncer | undefined;
  #isClosed = false;

  constructor(primary: ClusterServer, disk: SmallDisk | undefined) {
    [this.#first, this.#primary, this.#disk] = [primary, primary, disk];
    this.postgres = connect(primary.urlOf(DATABASE));
  }

  /** Starts primary and pooler; `addReplica` must follow, if there can be a replica. */
  static async start(): Promise<ClusterDatabase> {
    const disk = mountSmallDisk(DISK_MB);
    const primary = await (missingForReplica() === undefined
      ? startPrimary(SETTINGS, disk?.path)
      : startSingle(disk?.path));
    const first = connect(primary.urlOf("postgres"));
    await first.query(`CREATE DATABASE ${DATABASE}`);
    await first.close();
    const database = new ClusterDatabase(primary, disk);
    try {
      if (missingForPgbouncer() === undefined)
        database.#pooler = await startPgbouncer(DATABASE, database.#routes());
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  }

  get hasPooler(): boolean {
    return this.#pooler !== undefined;
  }

  get hasDisk(): boolean {
    return this.#disk !== undefined && this.#primary === this.#first;
  }

  /** Port of the server that has this role now; that of the primary while there is no replica. */
  portOf(role: "primary" | "replica" | "pooler"): number {
    if (role === "pooler" && this.#pooler) return this.#pooler.port;
    return (role === "replica" && this.#replica ? this.#replica : this.#primary).port;
  }

  #routes() {
    return {
      [DATABASE]: { port: this.portOf("primary") },
      [REPLICA_DATABASE]: { port: this.portOf("replica") },
    };
  }

  /** Kills the primary, which loses commits that did not wait for the disk, and starts it again. */
  async crash(downMs: number): Promise<void> {
    await this.#primary.end("SIGKILL");
    await sleep(downMs);
    if (!this.#isClosed) await this.#primary.start();
  }

  async crashPooler(downMs: number): Promise<void> {
    await this.#pooler?.kill();
    await sleep(downMs);
    if (!this.#isClosed) await this.#pooler?.start();
  }

  /** Promotes the replica, which was stopped and lacks the last commits. `addReplica` must follow. */
  async promote(lostMs: number): Promise<void> {
    const [former, replica, postgres] = [this.#primary, this.#replica, this.postgres];
    if (!replica) return;
    await replica.end("SIGINT");
    await sleep(lostMs);
    await former.end("SIGKILL");
    if (this.#isClosed) return;
    await replica.start();
    this.#primary = replica;
    this.#replica = undefined;
    this.postgres = connect(replica.urlOf(DATABASE));
    await this.postgres.query("SELECT pg_promote()");
    await postgres.close();
    await former.remove();
    this.#pooler?.route(this.#routes());
  }

  /** Starts a replica of the primary. Commits that wait for the disk then wait for the replica, too. */
  async addReplica(): Promise<void> {
    if (this.#isClosed || !this.hasReplica) return;
    this.#replica = await startReplica(this.#primary, SETTINGS);
    await this.postgres.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.postgres.query("SELECT pg_reload_conf()");
    this.#pooler?.route(this.#routes());
  }

  /** Fills the disk of the primary, and starts the primary again if it has ended by itself. */
  async fillDisk(fullMs: number): Promise<void> {
    const free = this.hasDisk ? this.#disk?.fill() : undefined;
    await sleep(fullMs);
    free?.();
    await this.ensureRunning();
  }

  async ensureRunning(): Promise<void> {
    try {
      await this.postgres.query("SELECT 1");
    } catch {
      await this.#primary.end("SIGKILL");
      await this.#primary.start();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pooler?.stop();
    await this.postgres.close();
    await this.#replica?.remove();
    await this.#primary.remove();
    this.#disk?.remove();
  }
}

/** Starts the server of the npm package, which cannot have a replica. */
async function startSingle(parent: string | undefined): Promise<ClusterServer> {
  const server = await startPostgres(SETTINGS, parent);
  const port = Number(new URL(await server.createDatabase("unused")).port);
  return {
    port,
    urlOf: (database) => urlOf(port, database),
    start: server.resume,
    end: server.end,
    remove: server.stop,
  };
}

/** Debian's pgbouncer in transaction mode before the database, for some of the processes. */
import { missingForPgbouncer, type Pgbouncer, startPgbouncer } from "../../postgres/cluster.ts";
import { type ClusterDatabase, DATABASE } from "./database.ts";

export type Pooler = Pick<Pgbouncer, "port" | "stop"> & {
  /** Sends connections to the servers that are primary and replica now. */
  reroute(): void;
  /** Kills it, and starts it again after some time. */
  crash(downMs: number): Promise<void>;
};

/** Name of the database for reads from the replica; the other name is that of the primary. */
export const REPLICA_DATABASE = `${DATABASE}_replica`;

/** Returns undefined where pgbouncer is not installed. */
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
      await new Promise((resolve) => setTimeout(resolve, downMs));
      if (!isStopped) await pgbouncer.start();
    },
    async stop() {
      isStopped = true;
      await pgbouncer.stop();
    },
  };
}

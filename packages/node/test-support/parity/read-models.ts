/** The read models over which the chain of the kit can be served. */
import type { Network } from "@uniknode/protocol";
import type { ReadModel } from "../../src/read/port.ts";
import { PostgresReadModel } from "../../src/read/postgres/read-model.ts";
import { SqliteReadModel } from "../../src/read/sqlite/read-model.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { buildMirror } from "../mirror/build.ts";
import { connect, startPostgres } from "../postgres/server.ts";

export type OpenedReadModel = { readonly model: ReadModel; close(): Promise<void> };

/** Opens a read model of the chain in a database file. */
export type OpenReadModel = (path: string, network: Network) => Promise<OpenedReadModel>;

export const openSqlite: OpenReadModel = async (path, network) => {
  const database = openDatabase(path, { readonly: true });
  const model = new SqliteReadModel({}, { database, network });
  return {
    model,
    async close() {
      model.close();
      database.close();
    },
  };
};

/**
 * Opens the read model of a mirror, which is built first, as API servers open it.
 *
 * @param url database that is empty, or that has a mirror of the same chain
 */
export const openMirror =
  (url: string): OpenReadModel =>
  async (path, network) => {
    const postgres = connect(url);
    const mirror = await buildMirror(postgres, path, network);
    const model = new PostgresReadModel({}, { postgres, shared: postgres, network });
    return {
      model,
      async close() {
        model.close();
        mirror.close();
        await postgres.close();
      },
    };
  };

/** Starts a PostgreSQL server, and opens the read model of a mirror in it. */
export const openMirrorInOwnServer: OpenReadModel = async (path, network) => {
  const server = await startPostgres();
  const { model, close } = await openMirror(await server.createDatabase("parity"))(path, network);
  return {
    model,
    async close() {
      await close();
      await server.stop();
    },
  };
};

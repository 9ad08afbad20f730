/** The database of an API server; the log has when it fails and when it responds again. */
import type { Logger } from "pino";
import { type ConnectionFigures, openPostgres, type Postgres } from "../../postgres/connection.ts";
import { reasonOf } from "../../postgres/waiting.ts";
import { SnapshotError } from "../../read/errors.ts";
import type { ReadModel } from "../../read/port.ts";
import type { ServeOptions } from "./http.ts";

/** Time limit of a statement; reads have a shorter one. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** Shorter than the time limit of a request, so that the response says that the database cannot be reached. */
const CONNECT_TIMEOUT_MS = 3_000;

export type ServeDatabase = {
  readonly postgres: Postgres;
  /** Connections for shared transactions. */
  readonly shared: Postgres;
  connections(): ConnectionFigures;
  close(): Promise<void>;
};

/** Opens the database; half of the connections are for shared transactions. */
export function openDatabase(
  { databaseConnections }: ServeOptions,
  url: string,
  logger: Logger,
): ServeDatabase {
  const open = (maxConnections: number) =>
    openPostgres({
      url,
      applicationName: "uniknode serve",
      maxConnections,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      isCommitAsynchronous: false,
      onConnectionLost: (err) => logger.warn({ err }, "lost a connection to the database"),
    });
  const ofShared = Math.ceil(databaseConnections / 2);
  const [shared, postgres] = [open(ofShared), open(databaseConnections - ofShared)];
  return {
    postgres,
    shared,
    connections() {
      const [one, other] = [postgres.connections(), shared.connections()];
      return { open: one.open + other.open, waiting: one.waiting + other.waiting };
    },
    async close() {
      await Promise.all([postgres.close(), shared.close()]);
    },
  };
}

/** Failures that are logged for the operator, because clients only get 503. */
const OUTAGES: readonly string[] = ["SNAPSHOT_UNREACHABLE", "SNAPSHOT_BUSY"];

/** Logs the first failure of reads because of the database, and the first success afterwards. */
export function withOutageLog(model: ReadModel, logger: Logger): ReadModel {
  let isOut = false;

  function noteFailure(error: unknown): never {
    if (error instanceof SnapshotError && OUTAGES.includes(error.code) && !isOut) {
      isOut = true;
      logger.warn({ reason: reasonOf(error) }, error.message);
    }
    throw error;
  }
  function noteSuccess(): void {
    if (isOut) logger.info("reads from the database succeed again");
    isOut = false;
  }
  const noted = <T>(result: Promise<T>): Promise<T> =>
    result.then((value) => {
      noteSuccess();
      return value;
    }, noteFailure);
  return {
    ...model,
    head() {
      const head = model.head();
      return head instanceof Promise ? noted(head) : head;
    },
    // Noted before the work, which can fail for other reasons.
    snapshot: (work) =>
      model
        .snapshot((snapshot) => {
          noteSuccess();
          return work(snapshot);
        })
        .catch(noteFailure),
  };
}

/** The only file that uses the PostgreSQL driver. */
import pg from "pg";

/**
 * A value of a parameter or a column. 64-bit integers are decimal text in both directions: JavaScript numbers would round them.
 */
export type PostgresValue = string | number | boolean | Uint8Array | null | readonly PostgresValue[];

export type Query = <Row>(sql: string, values?: readonly PostgresValue[]) => Promise<Row[]>;

/** A transaction that is rolled back if `work` throws. */
export type Transaction = {
  readonly query: Query;
  /** Returns the number of rows that a statement changed. */
  change(sql: string, values?: readonly PostgresValue[]): Promise<number>;
};

export type TransactionMode =
  | "READ WRITE"
  /** All reads see one commit. */
  | "ISOLATION LEVEL REPEATABLE READ READ ONLY";

export type Postgres = {
  readonly query: Query;
  transaction<T>(mode: TransactionMode, work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Waits for running statements. */
  close(): Promise<void>;
};

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** Time limit of a statement. */
  readonly statementTimeoutMs: number;
  /**
   * True if a commit may return before it is on disk. A crash of the server then loses the last commits, but never reorders
   * them.
   */
  readonly isCommitAsynchronous: boolean;
  /** Called when an idle connection breaks; the next statement opens another one. */
  readonly onConnectionLost: (error: Error) => void;
};

const CONNECT_TIMEOUT_MS = 10_000;

/** Connections are opened by the first statements. */
export function openPostgres(options: PostgresOptions): Postgres {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs,
    ...(options.isCommitAsynchronous && { options: "-c synchronous_commit=off" }),
  });
  pool.on("error", options.onConnectionLost);
  return {
    query: queryOf(pool),
    async transaction(mode, work) {
      const client = await pool.connect();
      let failure: Error | undefined;
      try {
        await client.query(`BEGIN ${mode}`);
        const result = await work(transactionOn(client));
        await client.query("COMMIT");
        return result;
      } catch (error) {
        failure = error as Error;
        // A connection that cannot roll back is broken: the pool closes it.
        await client.query("ROLLBACK").then(
          () => (failure = undefined),
          () => {},
        );
        throw error;
      } finally {
        client.release(failure);
      }
    },
    close: () => pool.end(),
  };
}

type Queryable = Pick<pg.ClientBase, "query">;

const queryOf =
  (client: Queryable): Query =>
  async <Row>(sql: string, values: readonly PostgresValue[] = []) =>
    (await client.query(sql, values.map(toDriver))).rows as Row[];

const transactionOn = (client: Queryable): Transaction => ({
  query: queryOf(client),
  change: async (sql, values = []) => (await client.query(sql, values.map(toDriver))).rowCount ?? 0,
});

/** The driver takes a `Buffer` for bytes. */
const toDriver = (value: PostgresValue): unknown =>
  value instanceof Uint8Array ? Buffer.from(value) : value;

/** The only file that uses the PostgreSQL driver. */
import pg from "pg";
import { PostgresError, toPostgresError } from "./postgres-error.ts";
import { prepared, type ReadingClient, type ReadLimits, type ReadQuery, Reads } from "./reads.ts";
import { applySettings, beginWith, type Settings } from "./session.ts";
import { arrayText } from "./text-formats.ts";

/**
 * A value of a parameter or a column. 64-bit integers are decimal text in both directions, because JavaScript numbers would
 * round them, unless a query asks for numbers.
 */
export type PostgresValue = string | number | boolean | Uint8Array | null | readonly PostgresValue[];

/** @param integers `number`: every integer of the rows is within the safe range */
export type Query = <Row>(
  sql: string,
  values?: readonly PostgresValue[],
  integers?: "number",
) => Promise<Row[]>;

/** A transaction that is rolled back if `work` throws. */
export type Transaction = {
  readonly query: Query;
  /** Returns the number of rows that a statement changed. */
  change(sql: string, values?: readonly PostgresValue[]): Promise<number>;
  /** Runs SQL that creates tables or indexes, for at most an hour. The limit holds until the end of the transaction. */
  build(sql: string): Promise<void>;
  /** Runs `COPY ... FROM STDIN` with rows in its text format. */
  copy(sql: string, rows: string): Promise<void>;
};

type TransactionMode =
  | "READ WRITE"
  /** All reads see one commit. */
  | "ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** Open connections, and callers that wait for one. */
export type ConnectionFigures = { readonly open: number; readonly waiting: number };

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** Maximum number of callers of `reads` that wait for a connection. Default: 100 for each connection. */
  readonly maxWaiting?: number;
  /** Time limit for a connection to open or to become free. Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** Time limit of a statement. */
  readonly statementTimeoutMs: number;
  /**
   * Time after which the server closes the connection of a transaction that sends no statement: a process that freezes, or loses
   * its network, must not keep its locks. Default: 15 s.
   */
  readonly maxTransactionIdleMs?: number;
  /**
   * True if a commit may return before it is on disk. A crash of the server then loses the last commits, but never
   * reorders them.
   */
  readonly isCommitAsynchronous: boolean;
  /**
   * True if the program runs few different statements, which find few rows by index. The server then parses and plans each of
   * them once for a connection, and never scans a table, whatever the size of the tables at that time. Default: false.
   */
  readonly hasFewStatements?: boolean;
  /** Called when an idle connection breaks; the next statement opens another one. */
  readonly onConnectionLost: (error: Error) => void;
};

const CONNECT_TIMEOUT_MS = 10_000;
/** A transaction of an API server waits up to 7.5 s for a call of the node. */
const MAX_TRANSACTION_IDLE_MS = 15_000;
/** Time without traffic after which the system probes whether the server can still be reached. */
const PROBE_AFTER_MS = 10_000;
/** Time to wait for a response after the time limit of a statement; then the connection is closed. */
const RESPONSE_GRACE_MS = 10_000;
const WAITING_PER_CONNECTION = 100;
/** Enough for the indexes of a long chain. */
const BUILD_TIMEOUT_MS = 3_600_000;

/** Connections to a database. None is opened yet: the first statements open them. */
export class Postgres {
  readonly #pool: pg.Pool;
  readonly #settings: Settings;
  readonly #maxWaiting: number;
  readonly #nameStatement: ToStatement;
  /** Connections that go through a pooler. */
  readonly #pooled = new WeakSet<pg.ClientBase>();
  #isLastPooled = false;

  constructor(options: PostgresOptions) {
    const { maxConnections, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
    this.#settings = settingsOf(options);
    this.#maxWaiting = options.maxWaiting ?? WAITING_PER_CONNECTION * maxConnections;
    this.#nameStatement = options.hasFewStatements ? createStatementNames() : asText;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.applicationName,
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: options.statementTimeoutMs + RESPONSE_GRACE_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: PROBE_AFTER_MS,
      pipeline: true,
      // They are not passed as parameters of the connection, because a pooler refuses them.
      onConnect: async (client) => {
        this.#isLastPooled = !(await applySettings(client, this.#settings, connectTimeoutMs));
        if (this.#isLastPooled) this.#pooled.add(client);
      },
    });
    this.#pool.on("error", (error) => options.onConnectionLost(withoutClient(error)));
    // A connection can break between two statements of a transaction; the next statement then fails.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  /** It is bound: callers destructure it. */
  readonly query: Query = (sql, values, integers) =>
    queryOf(this.#pool, this.#isLastPooled ? asText : this.#nameStatement)(sql, values, integers);

  async transaction<T>(mode: TransactionMode, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const isPooled = this.#pooled.has(client);
    const begin = beginWith(mode, isPooled ? this.#settings : {});
    const transaction = transactionOn(client, isPooled ? asText : this.#nameStatement);
    return runTransaction(client, begin, transaction, work);
  }

  /**
   * Runs reads of one commit (`reads.ts`). Resolves with `work`, before the transaction has ended.
   *
   * @throws {PostgresError}
   */
  async reads<T>(limits: ReadLimits, work: (query: ReadQuery<PostgresValue>) => Promise<T>): Promise<T> {
    if (this.#pool.waitingCount >= this.#maxWaiting) throw new PostgresError("POSTGRES_BUSY");
    const client = await connectToRead(this.#pool);
    const reads = new Reads<PostgresValue>(readingClient(client, this.#pooled.has(client)), limits);
    try {
      return await work((statement, values) => reads.query(statement, values));
    } finally {
      // The result does not depend on the end of the transaction.
      reads.end().then(
        () => client.release(),
        (error: Error) => client.release(error),
      );
    }
  }

  /** Returns true if the last new connection goes through a pooler such as pgbouncer. */
  isPooled(): boolean {
    return this.#isLastPooled;
  }

  connections(): ConnectionFigures {
    return { open: this.#pool.totalCount, waiting: this.#pool.waitingCount };
  }

  /** Closes all connections after their running statements. */
  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** Removes the driver's client from an error: a log line would contain every statement that the connection has prepared. */
function withoutClient(error: Error): Error {
  Object.defineProperty(error, "client", { value: undefined, enumerable: false });
  return error;
}

const settingsOf = ({
  statementTimeoutMs,
  maxTransactionIdleMs = MAX_TRANSACTION_IDLE_MS,
  isCommitAsynchronous,
  hasFewStatements,
}: PostgresOptions): Settings => ({
  statement_timeout: `${statementTimeoutMs}`,
  idle_in_transaction_session_timeout: `${maxTransactionIdleMs}`,
  ...(isCommitAsynchronous && { synchronous_commit: "off" }),
  ...(hasFewStatements && { enable_seqscan: "off", jit: "off" }),
});

/** @param begin SQL that begins the transaction */
async function runTransaction<T>(
  client: pg.PoolClient,
  begin: string,
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  let failure: Error | undefined;
  let reason: Error | undefined;
  const onBroken = (error: Error) => {
    reason ??= withoutClient(error);
  };
  client.on("error", onBroken);
  try {
    await client.query(begin);
    const result = await work(transaction);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    failure = error as Error;
    // A statement on a connection that broke before it fails without the reason.
    if (reason && failure !== reason) failure.cause ??= reason;
    // A connection that cannot roll back is broken: the pool closes it.
    await client.query("ROLLBACK").then(
      () => (failure = undefined),
      () => {},
    );
    throw error;
  } finally {
    client.off("error", onBroken);
    client.release(failure);
  }
}

/** @throws {PostgresError} POSTGRES_BUSY if all connections are in use, POSTGRES_UNREACHABLE if none can be opened */
async function connectToRead(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    const isFull = pool.totalCount >= pool.options.max && pool.idleCount === 0;
    throw isFull ? new PostgresError("POSTGRES_BUSY", error) : toPostgresError(error);
  }
}

/**
 * Omits the names of statements on pooled connections: the server process of the next statement may not have prepared
 * it.
 */
const readingClient = (client: pg.ClientBase, isPooled: boolean): ReadingClient<PostgresValue> => ({
  query: ({ name, text, values, responseMs }) =>
    client.query<object>({
      text,
      ...(responseMs !== undefined && { query_timeout: responseMs }),
      ...(name !== undefined && !isPooled && { name }),
      ...(values && { values: values.map(toDriver) }),
    }),
});

type Queryable = Pick<pg.ClientBase, "query">;

/** Returns the statement that the driver sends. */
type ToStatement = (sql: string) => { readonly text: string; readonly name?: string };

const asText: ToStatement = (text) => ({ text });

/** Maximum number of statements that the server keeps for a connection; further ones have no name. */
const MAX_PREPARED = 500;

function createStatementNames(): ToStatement {
  const statements = new Map<string, ReturnType<ToStatement>>();
  return (text) => {
    const known = statements.get(text);
    if (known) return known;
    const statement = statements.size < MAX_PREPARED ? prepared(text) : { text };
    if (statements.size < MAX_PREPARED) statements.set(text, statement);
    return statement;
  };
}

const { INT8, NUMERIC } = pg.types.builtins;

/** Parsers of columns; those of sums are numeric. */
const NUMBERS: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === INT8 || type === NUMERIC ? Number : pg.types.getTypeParser(type, format),
};

const queryOf =
  (client: Queryable, toStatement: ToStatement): Query =>
  async <Row>(sql: string, values: readonly PostgresValue[] = [], integers?: "number") => {
    const statement = statementOf(sql, values, toStatement);
    return (await client.query(integers ? { ...statement, types: NUMBERS } : statement)).rows as Row[];
  };

const transactionOn = (client: Queryable, toStatement: ToStatement): Transaction => ({
  query: queryOf(client, toStatement),
  change: async (sql, values = []) =>
    (await client.query(statementOf(sql, values, toStatement))).rowCount ?? 0,
  async build(sql) {
    await client.query(`SET LOCAL statement_timeout = ${BUILD_TIMEOUT_MS}`);
    const statement = { text: sql, query_timeout: BUILD_TIMEOUT_MS + RESPONSE_GRACE_MS };
    await client.query(statement);
  },
  copy: (sql, rows) => copyInto(client, sql, rows),
});

/** A text without parameters may consist of several statements, which cannot be prepared together. */
function statementOf(sql: string, values: readonly PostgresValue[], toStatement: ToStatement) {
  return values.length === 0 ? { text: sql } : { ...toStatement(sql), values: values.map(toDriver) };
}

/** Members of the driver's connection that `COPY` uses. */
type CopyConnection = { sendCopyFromChunk(chunk: Buffer): void; endCopyFrom(): void };

/** The driver calls `handleCopyInResponse` of a query when the server expects the rows. */
function copyInto(client: Queryable, sql: string, rows: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const query = new pg.Query(sql, [], (error: Error | null | undefined) =>
    error ? reject(error) : resolve(),
  );
  const sending = Object.assign(query, {
    handleCopyInResponse(connection: CopyConnection) {
      connection.sendCopyFromChunk(Buffer.from(rows));
      connection.endCopyFrom();
    },
  });
  client.query(sending);
  return promise;
}

/** The driver requires a `Buffer` for bytes. */
function toDriver(value: PostgresValue): unknown {
  if (Array.isArray(value)) return arrayText(value) ?? value;
  return value instanceof Uint8Array ? Buffer.from(value) : value;
}

/** The only file that uses the database driver. */

import { chmodSync, closeSync, existsSync, openSync } from "node:fs";
import Driver from "better-sqlite3";
import type { WriteLock, Writes } from "./writes.ts";

/** A value as SQLite stores it. Integers are returned as `number`, or as `bigint` by `bigints` statements. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A prepared statement; `Row` is trusted to match the selected columns. */
export type Statement<Row> = {
  get(...parameters: SqlValue[]): Row | undefined;
  all(...parameters: SqlValue[]): Row[];
  iterate(...parameters: SqlValue[]): IterableIterator<Row>;
  run(...parameters: SqlValue[]): { changes: number; lastInsertRowid: number | bigint };
};

/** Failure that a commit survives once the call has returned. Only power loss requires waiting for the disk. */
export type Durability = "power loss" | "process death";

const SYNCHRONOUS: Readonly<Record<Durability, string>> = { "power loss": "FULL", "process death": "NORMAL" };

export type Database = {
  /**
   * Prepares a statement: prepare once, run often. SQLite plans by the values of some parameters, and
   * recompiles the statement whenever one of them changes, which costs five to twenty times as much as
   * finding a row: parameters after `LIMIT` and `OFFSET`, and parameters compared with a column, unless it is
   * a unique key of the only table. Such a parameter is written `+?`: the sign does not change the value, and
   * hides it from the planner.
   *
   * @param options `bigints`: integer columns are returned as `bigint`; `arrays`: a row is returned as the
   * array of its columns
   */
  prepare<Row>(
    sql: string,
    options?: { readonly bigints?: boolean; readonly arrays?: boolean },
  ): Statement<Row>;
  /**
   * Defines a function for the SQL of this connection. It may be called for every row; an exception ends the
   * statement.
   */
  define(name: string, compute: (...values: SqlValue[]) => SqlValue): void;
  /** Runs statements without parameters or results. */
  execute(sql: string): void;
  /**
   * Runs `work` in a transaction. If it throws, the transaction is rolled back and the error is rethrown.
   * Nested calls join the outer one.
   *
   * @param survives failure that the commit survives once the call has returned: the loss of power, or at
   * least the end of the process, which needs no wait for the disk
   */
  transaction<T>(work: () => T, survives?: Durability): T;
  /**
   * Runs several changes in one transaction, in order. A change that throws is rolled back alone.
   *
   * @returns the outcome of each change; the successful ones are on disk
   * @throws {Error} of the driver when the transaction failed: then nothing was changed
   */
  group<T>(changes: readonly (() => T)[]): PromiseSettledResult<T>[];
  /** Returns the pages in the write-ahead log, and how many of them were copied into the file. */
  logPages(): { readonly total: number; readonly copied: number };
  /**
   * Copies the write-ahead log into the file, except pages that a reader still needs. Never waits for another
   * connection.
   */
  checkpoint(): void;
  /** Copies the write-ahead log into the file and empties it; returns false if a reader prevents it for 5 s. */
  truncateLog(): boolean;
  close(): void;
};

type DatabaseOptions = {
  /** Opens a read-only connection. The file must exist. */
  readonly?: boolean;
  /** The lock to acquire before a transaction begins, if several threads write. */
  writeLock?: WriteLock;
  /** Called with the outcome of each write. */
  writes?: Writes;
  /** False: commits of this connection leave the write-ahead log to `checkpoints.ts`. Default: true. */
  makesCheckpoints?: boolean;
};

/** Timeout of a writer that waits for another writer. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Bytes of the file to map for read-only connections: each committed block invalidates their page cache, and
 * copying a page from the file again costs as much as reading its content.
 */
const MAPPED_BYTES = 1_073_741_824;

const OWNER_ONLY = 0o600;

type LogRow = { readonly log: number; readonly checkpointed: number };

function openDriver(path: string, options: DatabaseOptions): Driver.Database {
  let driver: Driver.Database | undefined;
  try {
    if (!options.readonly && path !== ":memory:") makePrivate(path);
    driver = new Driver(path, { readonly: options.readonly ?? false, timeout: BUSY_TIMEOUT_MS });
    driver.pragma("foreign_keys = ON");
    // Reads the file, which verifies that it is a database.
    if (options.readonly) driver.pragma("schema_version");
    setUp(driver, options);
    return driver;
  } catch (error) {
    driver?.close();
    throw Object.assign(error as Error, { path });
  }
}

function setUp(driver: Driver.Database, options: DatabaseOptions): void {
  if (options.readonly) driver.pragma(`mmap_size = ${MAPPED_BYTES}`);
  else {
    driver.pragma("journal_mode = WAL");
    driver.pragma("synchronous = FULL");
    // Fewer checkpoints give 50 % more durable blocks per second.
    driver.pragma(`wal_autocheckpoint = ${options.makesCheckpoints === false ? 0 : 16_000}`);
    driver.pragma("cache_size = -16000");
  }
}

/**
 * Opens a database file; `:memory:` opens a temporary one. Uses a write-ahead log; every commit is on disk
 * before it returns. A connection that can write makes the file readable for its owner only, because it
 * contains the tokens of webhooks (webhooks.md 10 point 14).
 *
 * @throws {Error} of the driver, with the `path`, when the file is not a database or cannot be opened
 */
export function openDatabase(path: string, options: DatabaseOptions = {}): Database {
  const driver = openDriver(path, options);
  const { setDurability, transaction } = createTransactions(driver, options);

  /**
   * Outside of a transaction, a statement that writes is a transaction itself, and waits for the write lock
   * as well.
   */
  const inTransaction =
    <Result>(execute: (...parameters: SqlValue[]) => Result) =>
    (...parameters: SqlValue[]): Result =>
      driver.inTransaction ? execute(...parameters) : transaction(() => execute(...parameters));

  return {
    prepare<Row>(sql: string, { bigints = false, arrays = false } = {}) {
      const prepared = driver.prepare(sql);
      // The driver accepts the modes only for statements that return rows.
      if (bigints) prepared.safeIntegers(true);
      if (arrays) prepared.raw(true);
      const statement = prepared as unknown as Statement<Row>;
      if (prepared.readonly) return statement;
      return {
        run: inTransaction(statement.run.bind(statement)),
        get: inTransaction(statement.get.bind(statement)),
        all: inTransaction(statement.all.bind(statement)),
        iterate: statement.iterate.bind(statement),
      };
    },
    define: (name, compute) => void driver.function(name, { varargs: true }, compute),
    execute(sql) {
      if (!driver.inTransaction) setDurability("power loss");
      driver.exec(sql);
    },
    transaction,
    group: (changes) =>
      transaction(() => changes.map((change) => runInGroup(driver, options.writes, change))),
    logPages() {
      const [{ log, checkpointed }] = driver.pragma("wal_checkpoint(NOOP)") as [LogRow];
      return { total: log, copied: checkpointed };
    },
    checkpoint: () => void driver.pragma("wal_checkpoint(PASSIVE)"),
    truncateLog: () => (driver.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }])[0].busy === 0,
    close: () => void driver.close(),
  };
}

function createTransactions(driver: Driver.Database, { writeLock, writes }: DatabaseOptions) {
  let durability: Durability = "power loss";

  /**
   * Sets the failure that the next commit survives. The statement costs as much as a small commit that does
   * not wait for the disk.
   */
  function setDurability(wanted: Durability): void {
    if (wanted === durability) return;
    driver.pragma(`synchronous = ${SYNCHRONOUS[wanted]}`);
    durability = wanted;
  }

  function transaction<T>(work: () => T, survives: Durability = "power loss"): T {
    if (driver.inTransaction) return work();
    setDurability(survives);
    writeLock?.acquire();
    try {
      return watched(driver, writes, () => driver.transaction(work).immediate());
    } finally {
      writeLock?.release();
    }
  }

  return { setDurability, transaction };
}

/**
 * Reports the outcome of a write. A transaction may write nothing; then its success does not show that a
 * failed disk works again.
 */
function watched<T>(driver: Driver.Database, writes: Writes | undefined, write: () => T): T {
  const before = writes?.trouble() && totalChanges(driver);
  try {
    const result = write();
    if (before !== undefined && totalChanges(driver) !== before) writes?.worked();
    return result;
  } catch (error) {
    writes?.failed(error);
    throw error;
  }
}

const totalChanges = (driver: Driver.Database) => driver.prepare("SELECT total_changes()").pluck().get();

/** Runs one change of a group inside the transaction of the group. */
function runInGroup<T>(
  driver: Driver.Database,
  writes: Writes | undefined,
  change: () => T,
): PromiseSettledResult<T> {
  try {
    // Inside a transaction, the driver creates a savepoint.
    return { status: "fulfilled", value: driver.transaction(change)() };
  } catch (reason) {
    // If the disk is full, SQLite may have rolled back the whole transaction.
    if (!driver.inTransaction) throw reason;
    writes?.failed(reason);
    return { status: "rejected", reason };
  }
}

/**
 * Runs before SQLite opens the file, because SQLite gives its mode to the files beside it. Creates the file
 * if it is missing.
 */
export function makePrivate(path: string): void {
  // An existing file is not opened: closing it would release the locks that this process holds on it.
  if (!existsSync(path)) closeSync(openSync(path, "a", OWNER_ONLY));
  chmodSync(path, OWNER_ONLY);
}

/** Runs synchronous reads inside one read transaction. An error of `work` is rethrown. */
export type ReadTogether = <T>(work: () => T) => T;

export function createReadTogether(database: Database): ReadTogether {
  // Deferred, so that a read-only connection can begin it; the first read fixes the snapshot of all reads.
  const begin = database.prepare("BEGIN");
  const commit = database.prepare("COMMIT");
  return (work) => {
    begin.run();
    try {
      return work();
    } finally {
      commit.run();
    }
  };
}

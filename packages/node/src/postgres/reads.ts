/**
 * Reads of one commit. All statements are pipelined, including the one that begins the transaction: none waits for the
 * result of an earlier one. A failed statement does not affect the others: the transaction returns to a savepoint, and
 * statements that PostgreSQL refused in the meantime are sent again.
 */
import { hash } from "node:crypto";
import { CodedError } from "../platform/coded-error.ts";
import { PostgresError, sqlStateOf, toPostgresError } from "./postgres-error.ts";

/**
 * A statement that the server can plan once for each connection, regardless of the values of its parameters: suitable
 * only if an index finds few rows. The server keeps it until the connection ends, so the program must have a limited
 * number of such statements.
 */
export type Prepared = {
  readonly name: string;
  readonly text: string;
  /** True for a statement of a list, which can be slow. */
  readonly isOfList?: boolean;
};

export const prepared = (text: string): Prepared => ({ name: `u${hash("sha1", text).slice(0, 16)}`, text });

export const preparedList = (text: string): Prepared => ({ ...prepared(text), isOfList: true });

export const isOfList = (statement: string | Prepared): boolean =>
  typeof statement === "string" || statement.isOfList === true;

/** Members of the driver's client that reads use. The client sends queries immediately. */
export type ReadingClient<Value> = {
  query(statement: {
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly Value[];
    /** Time limit for the response, after which the connection is closed. Default: that of the connection. */
    readonly responseMs?: number;
  }): Promise<{ readonly rows: unknown[] }>;
};

export type ReadQuery<Value> = <Row>(
  statement: string | Prepared,
  values?: readonly Value[],
) => Promise<Row[]>;

export type ReadLimits = {
  /** Time limit of each statement. */
  readonly timeoutMs: number;
  /**
   * True if other callers read in the same transaction: statements of lists, which can be slow, are then not sent again
   * after another statement failed. Default: false.
   */
  readonly isShared?: boolean;
};

/** Time after which the server closes the connection of an idle transaction. */
const MAX_IDLE_MS = 10_000;
/**
 * Cost of reading a random page, relative to the next page. The default assumes rotating disks, and favours reading
 * whole tables.
 */
const RANDOM_PAGE_COST = 1.1;
/** Time limit for the start of a transaction, which is immediate unless a pooler has no connection to a server. */
const BEGIN_TIMEOUT_MS = 3_000;
const FAILED_TRANSACTION = "25P02";
/** SQLSTATE of a statement whose preparation was refused in a failed transaction. */
const UNKNOWN_STATEMENT = "26000";
/** Maximum number of attempts of one statement while others fail. */
const MAX_ATTEMPTS = 5;

/** A transaction, which begins with the instance. */
export class Reads<Value> {
  readonly #client: ReadingClient<Value>;
  readonly #isShared: boolean;
  readonly #begun: Promise<unknown>;
  #hasEnded = false;

  constructor(client: ReadingClient<Value>, { timeoutMs, isShared = false }: ReadLimits) {
    this.#client = client;
    this.#isShared = isShared;
    this.#begun = client.query({
      text: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
      SET LOCAL idle_in_transaction_session_timeout = ${MAX_IDLE_MS};
      SET LOCAL random_page_cost = ${RANDOM_PAGE_COST};
      SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(timeoutMs))};
      SAVEPOINT reads`,
      responseMs: BEGIN_TIMEOUT_MS,
    });
    // Each query awaits the promise, and reports its error.
    this.#begun.catch(() => {});
  }

  /** @throws {PostgresError} */
  async query<Row>(statement: string | Prepared, values: readonly Value[] = []): Promise<Row[]> {
    const named = typeof statement === "string" ? { text: statement } : statement;
    const maxAttempts = this.#isShared && isOfList(statement) ? 1 : MAX_ATTEMPTS;
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      if (this.#hasEnded) throw new ReadsEndedError();
      const rows = await this.#attempt(named, values);
      if (rows) return rows as Row[];
    }
    // The other statements used up the time.
    throw new PostgresError("POSTGRES_TIMEOUT");
  }

  /** Ends the transaction; rejects if the connection is broken. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#client.query({ text: "COMMIT" });
  }

  /** Returns undefined if the failure of another statement prevented this one. */
  async #attempt(statement: { text: string; name?: string }, values: readonly Value[]) {
    try {
      const { rows } = await this.#client.query({ ...statement, values });
      await this.#begun;
      return rows;
    } catch (error) {
      // A transaction that did not begin has no savepoint; its first statements may have exceeded their time limit.
      await this.#begun.catch((reason) => {
        throw toPostgresError(reason);
      });
      // If the rollback fails, too, the connection is broken, and the first error has the reason.
      const isRolledBack = await this.#client.query({ text: "ROLLBACK TO SAVEPOINT reads" }).then(
        () => true,
        () => false,
      );
      const state = sqlStateOf(error);
      if (isRolledBack && (state === FAILED_TRANSACTION || state === UNKNOWN_STATEMENT)) return undefined;
      throw toPostgresError(error);
    }
  }
}

/** A statement was sent after the end of its transaction. */
export class ReadsEndedError extends CodedError<"READS_ENDED"> {
  constructor() {
    super("READS_ENDED", "the transaction of these reads has ended", { isRetryable: true });
  }
}

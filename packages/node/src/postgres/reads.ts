/**
 * Reads of one commit. Statements are sent without waiting for the results of earlier ones, the beginning of the transaction
 * included. A statement that fails leaves the others valid: PostgreSQL aborts the transaction, which then returns to a
 * savepoint, and statements that arrived meanwhile are sent again.
 */
import { hash } from "node:crypto";
import { CodedError } from "../platform/coded-error.ts";
import { PostgresError, sqlStateOf, toPostgresError } from "./error.ts";

/**
 * A statement that the server can plan once for each connection, without regard to the values of its parameters, because an
 * index finds its few rows. The server keeps it until the connection ends: the program has a limited number of them.
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

/** The part of a client of the driver that reads use. The client sends queries at once. */
export type ReadingClient<Value> = {
  query(statement: {
    readonly name?: string;
    readonly text: string;
    readonly values?: readonly Value[];
    /** Time limit for the response; then the connection is closed. Absent: that of the connection. */
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
   * True if the transaction has reads of other callers: statements of lists, which can be slow, are then not sent again after the
   * failure of another one. Default: false.
   */
  readonly isShared?: boolean;
};

export type Reads<Value> = {
  /** @throws {PostgresError} */
  readonly query: ReadQuery<Value>;
  /** Ends the transaction; rejects if the connection is broken. */
  end(): Promise<void>;
};

/** Time after which the server closes the connection of a transaction that sends nothing. */
const MAX_IDLE_MS = 10_000;
/** Cost of a random page relative to the next one. The default assumes disks with heads, and prefers to read whole tables. */
const RANDOM_PAGE_COST = 1.1;
/** Time for a transaction to begin. It begins at once, unless a pooler has no connection to a server. */
const BEGIN_TIMEOUT_MS = 3_000;
const FAILED_TRANSACTION = "25P02";
/** The statement should have been prepared by one that was refused in a failed transaction. */
const UNKNOWN_STATEMENT = "26000";
/** Attempts of one statement while others fail. */
const MAX_ATTEMPTS = 5;

export function beginReads<Value>(
  client: ReadingClient<Value>,
  { timeoutMs, isShared = false }: ReadLimits,
): Reads<Value> {
  const begun = client.query({
    text: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
      SET LOCAL idle_in_transaction_session_timeout = ${MAX_IDLE_MS};
      SET LOCAL random_page_cost = ${RANDOM_PAGE_COST};
      SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(timeoutMs))};
      SAVEPOINT reads`,
    responseMs: BEGIN_TIMEOUT_MS,
  });
  // Each query awaits it.
  begun.catch(() => {});
  let hasEnded = false;

  /** Returns undefined if the failure of another statement prevented this one. */
  async function attempt(statement: { text: string; name?: string }, values: readonly Value[]) {
    const rolled = () => client.query({ text: "ROLLBACK TO SAVEPOINT reads" });
    try {
      const { rows } = await client.query({ ...statement, values });
      await begun;
      return rows;
    } catch (error) {
      // A transaction that did not begin, perhaps because its own statements took too long, has no savepoint.
      await begun.catch((reason) => {
        throw toPostgresError(reason);
      });
      // If this fails, too, the connection is broken, and the first error says why.
      const isRolledBack = await rolled().then(
        () => true,
        () => false,
      );
      const state = sqlStateOf(error);
      if (isRolledBack && (state === FAILED_TRANSACTION || state === UNKNOWN_STATEMENT)) return undefined;
      throw toPostgresError(error);
    }
  }

  return {
    async query<Row>(statement: string | Prepared, values: readonly Value[] = []) {
      const named = typeof statement === "string" ? { text: statement } : statement;
      const maxAttempts = isShared && isOfList(statement) ? 1 : MAX_ATTEMPTS;
      for (let attempts = 0; attempts < maxAttempts; attempts++) {
        if (hasEnded) throw new ReadsEndedError();
        const rows = await attempt(named, values);
        if (rows) return rows as Row[];
      }
      // The others took the time of this one.
      throw new PostgresError("POSTGRES_TIMEOUT");
    },
    async end() {
      hasEnded = true;
      await client.query({ text: "COMMIT" });
    },
  };
}

/** A statement came after the end of its transaction. */
export class ReadsEndedError extends CodedError<"READS_ENDED"> {
  constructor() {
    super("READS_ENDED", "the transaction of these reads has ended", { isRetryable: true });
  }
}

/**
 * Failures of PostgreSQL that callers distinguish, derived from errors of the driver; and the wait for a database that
 * is down or starting.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { CodedError } from "../platform/coded-error.ts";

/**
 * - `POSTGRES_UNREACHABLE`: the server cannot be reached, or it closed the connection
 * - `POSTGRES_BUSY`: no connection became free in time, the server has no resources left, or a standby cancelled the
 *   statement
 * - `POSTGRES_TIMEOUT`: a statement exceeded its time limit
 */
type PostgresErrorCode = "POSTGRES_UNREACHABLE" | "POSTGRES_BUSY" | "POSTGRES_TIMEOUT";

const MESSAGES: Readonly<Record<PostgresErrorCode, string>> = {
  POSTGRES_UNREACHABLE:
    "the connection to PostgreSQL failed: check that the server runs and accepts connections",
  POSTGRES_BUSY: "no connection to PostgreSQL is free: retry, or raise the limit of connections",
  POSTGRES_TIMEOUT: "a statement exceeded its time limit",
};

export class PostgresError extends CodedError<PostgresErrorCode> {
  constructor(code: PostgresErrorCode, cause?: unknown) {
    super(code, MESSAGES[code], { isRetryable: code !== "POSTGRES_TIMEOUT", cause });
  }
}

/** Failures by SQLSTATE, or by its class, which is its first two characters. */
const CODES: Readonly<Record<string, PostgresErrorCode>> = {
  "57014": "POSTGRES_TIMEOUT",
  /** A standby cancelled the statement to apply changes of the primary. */
  "40001": "POSTGRES_BUSY",
  /** Too many connections, out of memory. */
  "53": "POSTGRES_BUSY",
  "08": "POSTGRES_UNREACHABLE",
  /** The server shuts down, or has just started. */
  "57": "POSTGRES_UNREACHABLE",
  /** The server closed an idle transaction. */
  "25P03": "POSTGRES_UNREACHABLE",
};

/** Returns the SQLSTATE of an error of the server; undefined for all other errors. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const { code, severity } = error as { readonly code?: string; readonly severity?: string };
  // Errors of the system have codes, too, such as ECONNRESET.
  return severity === undefined ? undefined : code;
};

/** Errors of the language: a defect of the program, after which a retry would fail again. */
const DEFECTS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** Converts an error of the driver to a failure. Returns the error itself if a statement is wrong, or the program. */
export function toPostgresError(error: unknown): unknown {
  if (error instanceof CodedError || DEFECTS.some((defect) => error instanceof defect)) return error;
  const state = sqlStateOf(error);
  // Without a response of the server, the connection failed.
  const code = state === undefined ? "POSTGRES_UNREACHABLE" : (CODES[state] ?? CODES[state.slice(0, 2)]);
  return code === undefined ? error : new PostgresError(code, error);
}

const RETRY_MS = 2_000;

/**
 * Calls a function until its connection to the database lasts for the whole call, and returns its result. A connection can end at
 * any statement: a function that consists of several must accept that some of them have had their effect before.
 *
 * @throws {DOMException} AbortError if the signal ends the wait
 * @throws {Error} if the database refuses the connection permanently, for example because of a wrong password; everything else
 * that the function throws
 */
export async function untilReachable<T>(
  work: () => Promise<T>,
  logger: Logger,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { reason: reasonToWait(error) },
        "waiting for the database: check --database-url, and that the server runs and accepts connections",
      );
    }
    await sleep(RETRY_MS, undefined, { signal });
  }
}

function reasonToWait(error: unknown): string {
  const known = toPostgresError(error);
  if (known instanceof PostgresError && known.isRetryable) return reasonOf(known);
  throw error;
}

/** Returns the message of the server or of the system, which is more precise than the message of the error. */
export function reasonOf(error: Error): string {
  const { cause, message, code } = error as Error & { readonly code?: string };
  if (cause instanceof Error) return reasonOf(cause);
  return message || code || error.name;
}

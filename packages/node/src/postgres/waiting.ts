/** Waits for a database that is down or starting. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Postgres } from "./connection.ts";
import { PostgresError, toPostgresError } from "./error.ts";

const RETRY_MS = 2_000;

/**
 * Waits until the database accepts connections.
 *
 * @throws {DOMException} AbortError if the signal ends the wait
 * @throws {Error} if it refuses the connection permanently, for example because of a wrong password
 */
export async function waitForDatabase(
  postgres: Postgres,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const reason = await postgres.query("SELECT 1").then(() => undefined, reasonToWait);
    signal.throwIfAborted();
    if (reason === undefined) return;
    logger.warn({ reason }, "waiting for the database: it does not accept connections");
    await sleep(RETRY_MS, undefined, { signal });
  }
}

function reasonToWait(error: Error): string {
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

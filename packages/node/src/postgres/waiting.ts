/** Waits for a database that is down or starting. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { PostgresError, toPostgresError } from "./postgres-error.ts";

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

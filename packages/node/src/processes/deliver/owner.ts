/** Waits until delivery workers own the webhooks (docs/decisions/0049). */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Postgres } from "../../postgres/connection.ts";

const RETRY_MS = 2_000;

/** Returns whether the workers own the webhooks; if not, the node delivers them. */
export async function isOwnedByWorkers({ query }: Pick<Postgres, "query">): Promise<boolean> {
  const [row] = await query<{ isOwned: boolean }>(`SELECT true AS "isOwned" FROM webhook_register`);
  return row?.isOwned ?? false;
}

/**
 * Waits until the workers own the webhooks.
 *
 * @throws {DOMException} AbortError if the signal ends the wait
 */
export async function waitForOwnership(
  postgres: Pick<Postgres, "query">,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  let isLogged = false;
  while (!(await isOwnedByWorkers(postgres))) {
    if (!isLogged) logger.warn("waiting: the node delivers the webhooks of this network");
    isLogged = true;
    await sleep(RETRY_MS, undefined, { signal });
  }
}

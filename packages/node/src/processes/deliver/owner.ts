/** Follows the owner of the webhooks (docs/decisions/0054): a worker claims none while the node owns them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Postgres } from "../../postgres/connection.ts";
import { readOwner } from "../../webhooks/postgres/hand-over/owner.ts";

const RETRY_MS = 2_000;

const WAITING = {
  node: "waiting: the node delivers the webhooks of this network",
  "to workers": "waiting: the node hands its webhooks over to delivery workers",
  "to node": "waiting: the webhooks are being handed over to the node",
} as const;

/** Logs each change of the owner. */
function createOwnerLog(postgres: Pick<Postgres, "query">, logger: Logger): () => Promise<boolean> {
  let last: string | undefined;
  return async () => {
    const { state } = await readOwner(postgres.query);
    if (state !== last) {
      if (state !== "workers") logger.warn(WAITING[state]);
      else if (last !== undefined) logger.info("delivery workers own the webhooks");
    }
    last = state;
    return state === "workers";
  };
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
  const isOwner = createOwnerLog(postgres, logger);
  while (!(await isOwner())) await sleep(RETRY_MS, undefined, { signal });
}

/**
 * Logs when the workers are no longer the owner, and when they are again.
 *
 * @returns function that ends this
 */
export function watchOwnership(postgres: Pick<Postgres, "query">, logger: Logger): () => void {
  const isOwner = createOwnerLog(postgres, logger);
  // If the database cannot be read, the log has the reason.
  const timer = setInterval(() => void isOwner().catch(() => {}), RETRY_MS).unref();
  return () => clearInterval(timer);
}

/** Follows the owner of the webhooks (docs/decisions/0054): a worker claims none while the node owns them. */
import type { Logger } from "pino";
import type { Postgres } from "../../postgres/connection.ts";
import type { OwnerState } from "../../webhooks/hand-over/owner.ts";
import { readOwner } from "../../webhooks/postgres/hand-over/owner.ts";

const READ_EVERY_MS = 2_000;

/** Reasons for which workers claim no webhooks. */
export const WAITING: Readonly<Record<Exclude<OwnerState, "workers">, string>> = {
  node: "waiting: the node delivers the webhooks of this network",
  "to workers": "waiting: the node hands its webhooks over to delivery workers",
  "to node": "waiting: the webhooks are being handed over to the node",
};

/**
 * Logs each change of the owner, and at first that the workers are not the owner.
 *
 * @returns function that ends this
 */
export async function watchOwnership(
  { query }: Pick<Postgres, "query">,
  logger: Logger,
): Promise<() => void> {
  let last: OwnerState = "workers";
  async function read(): Promise<void> {
    const { state } = await readOwner(query);
    if (state === last) return;
    last = state;
    if (state === "workers") logger.info("delivery workers own the webhooks");
    else logger.warn(WAITING[state]);
  }
  await read();
  // If the database cannot be read, the log has the reason.
  const timer = setInterval(() => void read().catch(() => {}), READ_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Reads of a worker in its database: its privileges, the owner of the webhooks, and new events. */

import type { Logger } from "pino";
import { CodedError, ConfigError } from "../../platform/coded-error.ts";
import type { Postgres } from "../../postgres/connection.ts";
import type { OwnerState } from "../../webhooks/hand-over/owner.ts";
import { readOwner } from "../../webhooks/postgres/hand-over/owner.ts";

/** Tables of which a worker inserts, changes and deletes rows. */
const WRITTEN = ["attempts", "deliveries", "delivery_workers", "queue_changes", "queues"];

/**
 * Refuses a user or a server that cannot write: a worker would fail with every statement.
 *
 * @throws {ConfigError | CodedError} POSTGRES_READ_ONLY
 */
export async function requireWritable({ query }: Pick<Postgres, "query">): Promise<void> {
  const [row] = await query<{ isReadOnly: boolean; user: string; table: string | null }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", current_user::text AS "user",
       (SELECT min(name) FROM unnest($1::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
        WHERE NOT has_table_privilege(name, privilege)) AS "table"`,
    [WRITTEN],
  );
  if (row?.isReadOnly)
    // During a failover, the address may still be that of a replica: a service must be started again.
    throw new CodedError(
      "POSTGRES_READ_ONLY",
      "the database of --database-url is a replica, or read-only: give the URL of the primary server",
      { isRetryable: true },
    );
  if (row?.table != null)
    throw new ConfigError(
      `the user ${row.user} of --database-url cannot write to the table ${row.table}: give a user that can, such as that of the mirror (docs/guides/scale-out.md has the privileges of each process)`,
    );
}

const READ_EVERY_MS = 2_000;

/** Reasons for which workers claim no webhooks (docs/decisions/0054). */
export const WAITING: Readonly<Record<Exclude<OwnerState, "workers">, string>> = {
  node: "waiting: the node delivers the webhooks of this network",
  "to workers": "waiting: the node hands its webhooks over to delivery workers",
  "to node": "waiting: the webhooks are being handed over to the node",
};

/**
 * Logs each change of the owner, and at first that the workers are not the owner.
 *
 * @returns a function that ends this
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

const SEARCH_EVERY_MS = 100;
/** Number of searches after which the service is notified in any case, for work that no event causes. */
const NOTIFY_AFTER = 10;

/**
 * Searches for new events, and notifies the webhook service of them.
 *
 * @returns a function that ends the search
 */
export function searchNewEvents({ query }: Pick<Postgres, "query">, notify: () => void): () => void {
  let last: string | undefined;
  let searches = 0;
  let isSearching = false;

  async function search(): Promise<void> {
    const [row] = await query<{ last: string }>("SELECT last_sequence AS last FROM event_log");
    if (row?.last !== last) notify();
    last = row?.last;
  }
  const timer = setInterval(() => {
    if (searches++ % NOTIFY_AFTER === 0) notify();
    if (isSearching) return;
    isSearching = true;
    // The service itself logs that the database does not respond.
    void search()
      .catch(() => {})
      .finally(() => {
        isSearching = false;
      });
  }, SEARCH_EVERY_MS);
  return () => clearInterval(timer);
}

/** Refuses a user or a server that cannot write: a worker would fail with every statement. */
import { ConfigError } from "../../platform/config-error.ts";
import type { Postgres } from "../../postgres/connection.ts";

/** Tables of which a worker inserts, changes and deletes rows. */
const WRITTEN = ["attempts", "deliveries", "delivery_workers", "queue_changes", "queues"];

/** @throws {ConfigError} */
export async function requireWritable({ query }: Pick<Postgres, "query">): Promise<void> {
  const [row] = await query<{ isReadOnly: boolean; user: string; table: string | null }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly", current_user::text AS "user",
       (SELECT min(name) FROM unnest($1::text[]) AS name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
        WHERE NOT has_table_privilege(name, privilege)) AS "table"`,
    [WRITTEN],
  );
  if (row?.isReadOnly)
    throw new ConfigError(
      "the database of --database-url is a replica, or read-only: give the URL of the primary server",
    );
  if (row?.table != null)
    throw new ConfigError(
      `the user ${row.user} of --database-url cannot write to the table ${row.table}: give a user that can, such as that of the mirror (docs/guides/scale-out.md has the privileges of each process)`,
    );
}

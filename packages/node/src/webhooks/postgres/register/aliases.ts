/** Aliases of webhooks in PostgreSQL. */
import type { Postgres } from "../../../postgres/connection.ts";
import type { WebhookAliases } from "../../register/rows.ts";

export const createPostgresAliases = ({ query }: Pick<Postgres, "query">): WebhookAliases => ({
  async idOf(alias) {
    // PostgreSQL refuses this character.
    if (alias.includes("\0")) return undefined;
    const [row] = await query<{ webhook: string }>("SELECT webhook FROM webhook_aliases WHERE alias = $1", [
      alias,
    ]);
    return row && Number(row.webhook);
  },
  async webhooks() {
    const rows = await query<{ webhook: string }>(
      "SELECT DISTINCT webhook FROM webhook_aliases ORDER BY webhook",
    );
    return rows.map(({ webhook }) => Number(webhook));
  },
});

/** Aliases of webhooks (webhooks.md W-03) in SQLite. */
import type { Database } from "../../store/engine/database.ts";
import type { WebhookAliases } from "../register/rows.ts";

export function createWebhookAliases(database: Database): WebhookAliases {
  const find = database.prepare<{ webhook: number }>("SELECT webhook FROM webhook_aliases WHERE alias = ?");
  const insert = database.prepare("INSERT INTO webhook_aliases VALUES (?, ?)");
  const all = database.prepare<{ webhook: number }>(
    "SELECT DISTINCT webhook FROM webhook_aliases ORDER BY webhook",
  );
  return {
    idOf: (alias) => find.get(alias)?.webhook,
    add: (alias, webhook) => void insert.run(alias, webhook),
    webhooks: () => all.all().map(({ webhook }) => webhook),
  };
}

/** Locks of queues, and changes of queues by other processes, which the owner of their webhooks must notice. */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import type { Requeued } from "../delivery-queue.ts";

/** Locks the queue of a webhook until the end of the transaction; resolves to `false` if the webhook was removed. */
export async function lockQueue({ query }: Transaction, webhook: number): Promise<boolean> {
  const rows = await query("SELECT 1 FROM queues WHERE webhook = $1 FOR UPDATE", [webhook]);
  return rows.length > 0;
}

/**
 * Reports a change to the owner of the webhook. Must be the last statement of its transaction, because it locks a row.
 *
 * @param isRestart true if the queue restarts from its first delivery
 */
export async function noteChange(
  { change }: Transaction,
  webhook: number,
  isRestart: boolean,
): Promise<void> {
  // Locks the row of an earlier change: the owner must not remove it before it can see this change.
  await change(
    `INSERT INTO queue_changes (webhook, is_restart) VALUES ($1, $2)
     ON CONFLICT (webhook, is_restart) DO UPDATE SET is_restart = EXCLUDED.is_restart`,
    [webhook, isRestart],
  );
}

/** Locks queues until the end of the transaction. */
export async function lockQueues({ change }: Transaction, webhooks: readonly number[]): Promise<void> {
  await change("SELECT FROM queues WHERE webhook = ANY ($1) ORDER BY webhook FOR UPDATE", [webhooks]);
}

/** Changes deliveries of a webhook, and reports the change to its owner; changes nothing if the webhook was removed. */
export function changeQueue(
  { transaction }: Pick<Postgres, "transaction">,
  webhook: number,
  change: (transaction: Transaction) => Promise<Requeued>,
): Promise<Requeued> {
  return transaction("READ WRITE", async (own) => {
    if (!(await lockQueue(own, webhook))) return { count: 0 };
    const changed = await change(own);
    if (changed.count > 0) await noteChange(own, webhook, false);
    return changed;
  });
}

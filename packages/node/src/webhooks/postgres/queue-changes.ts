/** Changes of queues in transactions of PostgreSQL. */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import type { Requeued } from "../delivery-queue.ts";
import { lockQueue, noteChange } from "../storage/locks.ts";
import { runSteps, sqlOf } from "./sql.ts";

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
    if (!(await runSteps(lockQueue(sqlOf(own), webhook)))) return { count: 0 };
    const changed = await change(own);
    if (changed.count > 0) await runSteps(noteChange(sqlOf(own), webhook, false));
    return changed;
  });
}

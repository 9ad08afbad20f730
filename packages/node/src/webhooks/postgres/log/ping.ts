/** Pings: deliveries without sequence. A ping that was sent outside the queue is inserted with its outcome. */
import { present } from "../../../platform/present.ts";
import type { Postgres, Transaction } from "../../../postgres/connection.ts";
import type { DeliveryQueue } from "../../delivery-queue.ts";
import type { NewPing } from "../../register/rows.ts";
import { lockQueue } from "../../storage/locks.ts";
import { insertContents } from "../contents.ts";
import { runSteps, sqlOf, storableText } from "../sql.ts";

/** Puts a ping into the queue of its webhook, which must be locked. */
export async function insertPing(
  transaction: Transaction,
  { webhook, id, event, createdMs, content }: NewPing,
): Promise<void> {
  const [number] = await insertContents(transaction, [content]);
  await transaction.change(
    `INSERT INTO deliveries (number, webhook, id, event, target_number, content, state, created_ms)
     VALUES (nextval('delivery_numbers'), $1, $2, $3, (SELECT target_number FROM webhooks WHERE webhooks.id = $1), $4,
       'pending', $5)`,
    [webhook, id, event, present(number, "the number of a content"), createdMs],
  );
}

export function createRecordPing({
  transaction,
}: Pick<Postgres, "transaction">): DeliveryQueue["recordPing"] {
  return ({ webhook, id, createdMs, dataText, attempt, finishedMs, failure }) =>
    transaction("READ WRITE", async (own) => {
      // Numbers of a webhook grow in the order of commits; the ping of a removed webhook is dropped with the oldest deliveries.
      await runSteps(lockQueue(sqlOf(own), webhook));
      const [content] = await insertContents(own, [{ dataText }]);
      const [delivery] = await own.query<{ number: string }>(
        `INSERT INTO deliveries (number, webhook, id, event, target_number, content, state, reason, attempts, created_ms,
           finished_ms)
         VALUES (nextval('delivery_numbers'), $1, $2, 'ping',
           coalesce((SELECT target_number FROM webhooks WHERE webhooks.id = $1), 0), $3, $4, $5, 1, $6, $7)
         RETURNING number`,
        [
          webhook,
          id,
          present(content, "the number of a content"),
          failure === undefined ? "delivered" : "failed",
          failure === undefined ? null : storableText(failure),
          createdMs,
          finishedMs,
        ],
      );
      const { number } = present(delivery, "the inserted ping");
      await own.change(
        `INSERT INTO attempts (delivery, started_ms, duration_ms, status, response, error)
         VALUES ($1, $2, $3, $4, $5, $6)`,
        [
          number,
          attempt.startedMs,
          attempt.durationMs,
          attempt.status ?? null,
          attempt.response === undefined ? null : storableText(attempt.response),
          attempt.error ?? null,
        ],
      );
      return Number(number);
    });
}

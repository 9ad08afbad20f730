/** An event of the pool in the form that receivers get (events.md 3.5). */
import { createHash } from "node:crypto";
import { transactionData } from "../events/content.ts";
import type { Event } from "../events/event.ts";
import type { PoolEvent } from "./pool-event.ts";

export function toPublicEvent(event: PoolEvent): Event {
  const { name } = event;
  switch (name) {
    case "transaction.pool.added":
      return {
        id: `${name}:${batchId(event.transactions.map(({ data }) => data.id))}`,
        name,
        data: event.transactions.map(({ data }) => transactionData(data)),
      };
    case "transaction.pool.rejected":
      return {
        id: `${name}:${batchId(event.rejected.map(({ transaction }) => transaction.data.id))}`,
        name,
        data: event.rejected.map(({ transaction, code, message }) => ({
          transaction: transactionData(transaction.data),
          type: code,
          message,
        })),
      };
    case "transaction.pool.removed":
    case "transaction.expired":
      return {
        id: `${name}:${event.transaction.data.id}`,
        name,
        data: transactionData(event.transaction.data),
      };
  }
}

/** Id of a batch, from the ids in it. */
const batchId = (ids: readonly string[]): string => createHash("sha256").update(ids.join()).digest("hex");

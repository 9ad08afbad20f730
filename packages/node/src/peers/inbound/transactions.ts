/**
 * Receives transactions that peers post (p2p.md 7.6): the reply is immediate, and messages are processed one
 * after another.
 */
import type { Logger } from "pino";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import { lengthOf } from "../../platform/json/size.ts";

export type Items = readonly Readonly<Record<string, unknown>>[];

export type InboundTransactionsDeps = {
  /** Admits the items of a message that match the batch schema. */
  readonly submit: (
    items: readonly unknown[],
    options: { readonly isBatch: true },
  ) => Promise<AdmissionResult>;
  /** Broadcasts the items that the pool selected for it. */
  readonly broadcast: (items: Items, result: AdmissionResult) => void;
  readonly logger: Logger;
};

export type InboundTransactions = {
  /** Queues the items of one message. */
  post(items: Items): void;
};

/** Queued messages; further ones are dropped, and their senders send them again. An old node stores more on disk. */
const MAX_WAITING = 500;
/** Characters of all queued messages, if there are several: their values take several times as much memory. */
const MAX_WAITING_LENGTH = 8 * 1024 * 1024;

export function createInboundTransactions(deps: InboundTransactionsDeps): InboundTransactions {
  const { logger } = deps;
  const waiting: { readonly items: Items; readonly length: number }[] = [];
  let waitingLength = 0;
  let isBusy = false;

  async function take(items: Items): Promise<void> {
    if (items.length === 0) return;
    // A message is accepted or rejected as a whole (pool.md 2).
    const result = await deps.submit(items, { isBatch: true });
    if (result.data.invalid.length === 0) deps.broadcast(items, result);
  }

  async function work(): Promise<void> {
    isBusy = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      waitingLength -= next.length;
      await take(next.items).catch((err) => logger.debug({ err }, "failed to admit posted transactions"));
    }
    isBusy = false;
  }

  return {
    post(items) {
      const length = lengthOf(items);
      const isFull = waiting.length >= MAX_WAITING || waitingLength + length > MAX_WAITING_LENGTH;
      if (isFull && waiting.length > 0) return;
      waiting.push({ items, length });
      waitingLength += length;
      if (!isBusy) void work();
    },
  };
}

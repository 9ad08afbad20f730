/** Deliveries per second from the commit of their events to the recorded acknowledgement. */
import { request } from "undici";
import { present } from "../../packages/node/src/platform/present.ts";
import { READER } from "../../packages/node/src/webhooks/intake.ts";
import { startReceiver } from "./receiver.ts";
import { openService, transferApplied } from "./service.ts";

const EVENTS_PER_BLOCK = 100;

export type Rate = {
  readonly perSecond: number;
  /** CPU time of the sending thread per delivery. */
  readonly processorMicros: number;
};

/** Delivers every event to every webhook; the receiver responds after `responseDelayMs`. */
export async function measureDurable(
  webhookCount: number,
  eventCount: number,
  responseDelayMs: number,
): Promise<Rate> {
  const receiver = await startReceiver(responseDelayMs);
  const service = openService();
  service.register(Array.from({ length: webhookCount }, () => ({ target: receiver.url })));
  const pending = service.database.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM deliveries INDEXED BY deliveries_first
     WHERE state = 'pending' AND next_attempt_ms IS NULL AND replay IS NULL`,
  );
  const isMatched = () => service.eventLog.cursor(READER) === service.eventLog.lastSequence();
  const total = webhookCount * eventCount;
  const blocks = Array.from({ length: eventCount / EVENTS_PER_BLOCK }, (_, height) =>
    Array.from({ length: EVENTS_PER_BLOCK }, (_, sequence) => transferApplied(height + 1, sequence)),
  );
  const begun = start();
  for (const events of blocks) service.commit(events);
  service.webhooks.notify();
  while (!isMatched() || present(pending.get()).count > 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const rate = begun.rate(total);
  await service.close();
  await receiver.close();
  return rate;
}

/** Posts the same bodies sequentially, without writes. */
export async function measureNaive(count: number, responseDelayMs: number): Promise<Rate> {
  const receiver = await startReceiver(responseDelayMs);
  const { data } = transferApplied(1, 0);
  const begun = start();
  for (let sent = 0; sent < count; sent++) {
    const body = JSON.stringify({ timestamp: Date.now(), data, event: "transaction.applied" });
    const headers = { "content-type": "application/json", authorization: "5".repeat(32) };
    const response = await request(receiver.url, { method: "POST", headers, body });
    await response.body.dump();
  }
  const rate = begun.rate(count);
  await receiver.close();
  return rate;
}

function start() {
  const atMs = performance.now();
  const processor = process.threadCpuUsage();
  return {
    rate(count: number): Rate {
      const { user, system } = process.threadCpuUsage(processor);
      return {
        perSecond: count / ((performance.now() - atMs) / 1_000),
        processorMicros: (user + system) / count,
      };
    },
  };
}

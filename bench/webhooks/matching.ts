/** What an event costs the serving thread until its deliveries are in their queues, by the number of webhooks. */
import { READER } from "../../packages/node/src/webhooks/matching/matcher.ts";
import { openService, transferApplied } from "./service.ts";

const EVENTS = 500;
export const MATCHES = 10;

/** Condition lists that no transfer of the measurement fits, each one different from all others. */
const UNFIT: readonly ((index: number) => object[])[] = [
  (index) => [{ key: "recipientId", condition: "eq", value: `D${`${index}`.padStart(33, "1")}` }],
  (index) => [{ key: "amount", condition: "gte", value: `9${`${index}`.padStart(15, "0")}` }],
  (index) => [
    { key: "senderPublicKey", condition: "eq", value: "03".padEnd(66, `${index}`) },
    { key: "type", condition: "eq", value: `${index + 100}` },
  ],
];

/** Processor time for each event, microseconds. */
export async function measureMatching(webhookCount: number): Promise<number> {
  // No calls: what is measured ends with the delivery in its queue.
  const service = openService({ maxConcurrent: 0 });
  service.register(
    Array.from({ length: webhookCount }, (_, index) =>
      index < MATCHES
        ? { conditions: JSON.stringify([{ key: "type", condition: "eq", value: "0" }]) }
        : { conditions: JSON.stringify(UNFIT[index % UNFIT.length]!(index)) },
    ),
  );
  const settled = async () => {
    service.webhooks.wake();
    while (service.eventLog.cursor(READER) !== service.eventLog.lastSequence()) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const events = (height: number, count: number) =>
    Array.from({ length: count }, (_, sequence) => transferApplied(height, sequence));
  // The definitions are read with the first event.
  service.commit(events(1, 50));
  await settled();
  service.commit(events(2, EVENTS));
  const before = process.threadCpuUsage();
  await settled();
  const { user, system } = process.threadCpuUsage(before);
  await service.close();
  return (user + system) / EVENTS;
}

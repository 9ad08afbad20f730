/** Cost of an event for the serving thread until its deliveries are queued, by the number of webhooks. */
import type { Event } from "../../packages/node/src/events/catalogue.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { READER } from "../../packages/node/src/webhooks/intake.ts";
import { openService, transferApplied } from "./service.ts";

const EVENTS = 500;
const BLOCKS = 10;
export const MATCHES = 10;

/** Distinct condition lists that match no transfer of the measurement. */
const UNFIT: readonly ((index: number) => object[])[] = [
  (index) => [{ key: "recipientId", condition: "eq", value: `D${`${index}`.padStart(33, "1")}` }],
  (index) => [{ key: "amount", condition: "gte", value: `9${`${index}`.padStart(15, "0")}` }],
  (index) => [
    { key: "senderPublicKey", condition: "eq", value: "03".padEnd(66, `${index}`) },
    { key: "type", condition: "eq", value: `${index + 100}` },
  ],
];

/** CPU time per event in microseconds. */
export async function measureMatching(webhookCount: number): Promise<number> {
  // No calls: the measurement ends with the queued delivery.
  const service = openService({ maxConcurrent: 0 });
  service.register(
    Array.from({ length: webhookCount }, (_, index) =>
      index < MATCHES
        ? { conditions: JSON.stringify([{ key: "type", condition: "eq", value: "0" }]) }
        : {
            conditions: JSON.stringify(present(UNFIT[index % UNFIT.length])(index)),
            confirmations: index % 2,
          },
    ),
  );
  const settled = async () => {
    service.webhooks.notify();
    while (service.eventLog.cursor(READER) !== service.eventLog.lastSequence()) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  // The first event loads the definitions.
  service.commit(blockOf(1, 50));
  await settled();
  for (let block = 0; block < BLOCKS; block++) service.commit(blockOf(2 + block, EVENTS / BLOCKS));
  const before = process.threadCpuUsage();
  await settled();
  const { user, system } = process.threadCpuUsage(before);
  await service.close();
  return (user + system) / EVENTS;
}

/** Transfers, and the end of their block, which makes deliveries with confirmations due. */
const blockOf = (height: number, transfers: number): Event[] => [
  ...Array.from({ length: transfers }, (_, sequence) => transferApplied(height, sequence)),
  { id: `block.applied:${height}`, name: "block.applied", height, blockId: `${height}`, data: { height } },
];

/**
 * `npm run bench -- backlog [--deliveries N] [--webhooks N]`
 *
 * Queues deliveries for targets that are down, and measures the memory of the process and the latency of a delivery to a
 * target that is up. The process does nothing else, so its memory is that of the webhooks.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../packages/node/src/platform/present.ts";
import { readArguments } from "../tools/arguments.ts";
import { startReceiver } from "./webhooks/receiver.ts";
import { openService, transferApplied } from "./webhooks/service.ts";

const { values } = readArguments("bench backlog", {
  options: {
    deliveries: { type: "string", default: "1000000" },
    webhooks: { type: "string", default: "20" },
  },
});
const deliveries = Number(values.deliveries);
const webhooks = Number(values.webhooks);
const EVENTS_AT_ONCE = 100;
/** No server listens there. */
const DOWN = "http://127.0.0.1:9/hook";

const receiver = await startReceiver();
const service = openService();
service.register([
  ...Array.from({ length: webhooks }, () => ({ target: DOWN })),
  { event: "block.applied", target: receiver.url },
]);
const waiting = service.database.prepare<{ count: number }>(
  "SELECT count(*) AS count FROM deliveries WHERE state = 'pending'",
);
const rssMb = () => Math.round(process.memoryUsage.rss() / 2 ** 20);

service.webhooks.notify();
console.log(`${webhooks} webhooks with a target that is down, resident memory at the start ${rssMb()} MB`);
let peakMb = 0;
const sampling = setInterval(() => {
  peakMb = Math.max(peakMb, rssMb());
}, 100);
const blocks = Math.ceil(deliveries / webhooks / EVENTS_AT_ONCE);
const delaysMs: number[] = [];
for (let height = 1; height <= blocks; height++) {
  const events = Array.from({ length: EVENTS_AT_ONCE }, (_, sequence) => transferApplied(height, sequence));
  const blockId = `${height}`.padStart(64, "0");
  const block = {
    id: `block.applied:${blockId}`,
    name: "block.applied",
    height,
    blockId,
    data: { id: blockId },
  };
  const committedMs = performance.timeOrigin + performance.now();
  service.commit([...events, block]);
  service.webhooks.notify();
  let arrivals = await receiver.arrivals();
  while (arrivals.length === 0) {
    await sleep(1);
    arrivals = await receiver.arrivals();
  }
  delaysMs.push(present(arrivals[0])[1] - committedMs);
  if (height % Math.ceil(blocks / 10) === 0) {
    console.log(`  ${present(waiting.get()).count} deliveries wait, resident memory ${rssMb()} MB`);
  }
}
clearInterval(sampling);
delaysMs.sort((a, b) => a - b);
const median = present(delaysMs[Math.floor(delaysMs.length / 2)]);
console.log(`peak of the resident memory: ${Math.max(peakMb, rssMb())} MB`);
console.log(`a target that is up receives a block after ${median.toFixed(0)} ms in the median`);
await service.close();
await receiver.close();

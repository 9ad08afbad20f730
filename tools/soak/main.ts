/**
 * `npm run soak -- [--minutes N]`
 *
 * A dev chain with transfers, readers, streams, a scraper, and 200 webhooks of good, failing, hanging and dripping
 * receivers. Fails if memory grows, a response is 5xx, or a delivery is missing, duplicated or out of order.
 */

import { readArguments } from "../arguments.ts";
import { soak } from "./soak.ts";

const { values } = readArguments("soak", { options: { minutes: { type: "string", default: "60" } } });
const minutes = Number(values.minutes);
const { memoryMib, faults, ...counts } = await soak({ minutes, onMinute: console.log });
const { firstHalf, lastHalf, peak } = memoryMib;
console.log(
  `${minutes} minutes: ${counts.requests} requests, ${counts.accepted} transactions accepted, ` +
    `${counts.deliveries} deliveries, ${counts.streamedBlocks} blocks streamed`,
);
console.log(
  `resident memory, MiB: first half ${firstHalf.toFixed(0)}, last half ${lastHalf.toFixed(0)}, peak ${peak.toFixed(0)}`,
);
for (const fault of faults) console.log(`FAILED ${fault}`);
if (faults.length > 0) process.exitCode = 1;

/**
 * `npm run bench -- webhooks [throughput] [latency] [matching] [forging]`
 *
 * Webhooks against a receiver on the same machine; all four parts unless some are named.
 *
 * - throughput: deliveries per second from the commit of their events to the recorded acknowledgement, compared with the
 *   same bodies posted sequentially without writes;
 * - latency: from the commit of a block to the first byte, with 1,000 webhooks of which 10 match;
 * - matching: cost of an event by the number of webhooks, of which 10 match;
 * - forging: commit times of blocks: idle, with 1,000 webhooks whose targets misbehave, and, because those keep the machine
 *   busy, with other busy processes.
 */
import { readArguments } from "../tools/arguments.ts";
import { type DelayBeside, type Load, measureForging } from "./webhooks/forging.ts";
import { measureLatency } from "./webhooks/latency.ts";
import { MATCHES, measureMatching } from "./webhooks/matching.ts";
import { measureDurable, measureNaive, type Rate } from "./webhooks/throughput.ts";

const { positionals: named } = readArguments("bench webhooks [PART...]", { allowPositionals: true });
const isSelected = (part: string) => named.length === 0 || named.includes(part);
const ms = (value: number) => `${value.toFixed(1)} ms`;

if (isSelected("throughput")) {
  const show = ({ perSecond, processorMicros }: Rate) =>
    `${Math.round(perSecond)} deliveries/s, ${Math.round(processorMicros)} us of processor time each`;
  console.log("throughput: events to 32 webhooks, from commit to acknowledged and recorded");
  for (const responseDelayMs of [0, 5]) {
    console.log(`  a receiver that responds after ${responseDelayMs} ms`);
    for (let round = 0; round < 3; round++) {
      const durable = await measureDurable(32, 1_000, responseDelayMs);
      const naive = await measureNaive(responseDelayMs === 0 ? 5_000 : 500, responseDelayMs);
      console.log(`    durable: ${show(durable)}`);
      console.log(`    one after another, nothing written: ${show(naive)}`);
      console.log(`    ratio: ${(durable.perSecond / naive.perSecond).toFixed(1)}`);
    }
  }
}

if (isSelected("latency")) {
  console.log("latency: from the commit of a block to the first byte; 10 webhooks match");
  for (const webhooks of [10, 1_000]) {
    const { samples, p50Ms, p99Ms } = await measureLatency(webhooks, 200);
    console.log(`  ${webhooks} webhooks: median ${ms(p50Ms)}, p99 ${ms(p99Ms)} (${samples} deliveries)`);
  }
}

if (isSelected("matching")) {
  console.log(`matching: processor time for each event, ${MATCHES} webhooks match`);
  for (const webhooks of [10, 100, 1_000, 10_000, 100_000]) {
    console.log(`  ${webhooks} webhooks: ${Math.round(await measureMatching(webhooks))} us`);
  }
}

if (isSelected("forging")) {
  console.log("forging: from the beginning of a slot to the writing of its block");
  const show = ({ blocks, p50Ms, p90Ms, maxMs, callsPerSecond }: DelayBeside) =>
    `median ${ms(p50Ms)}, p90 ${ms(p90Ms)}, highest ${ms(maxMs)} (${blocks} blocks, ${Math.round(callsPerSecond)} calls/s)`;
  const loads: readonly [Load, string][] = [
    ["nothing else", "one webhook"],
    ["processes that compute", "one webhook, and other processes that keep both processors busy"],
    ["webhooks", "1,000 webhooks, 4 of 10 misbehave"],
  ];
  // In rotation, so that other load of the machine affects all kinds.
  for (let round = 0; round < 2; round++) {
    for (const transfersPerSecond of [1, 20]) {
      console.log(`  ${transfersPerSecond} transfers a second`);
      for (const [load, text] of loads) {
        console.log(`    ${text}: ${show(await measureForging({ seconds: 30, transfersPerSecond, load }))}`);
      }
    }
  }
}

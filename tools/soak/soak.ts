/** Dev chain under typical load, for any time. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EVERY_EVENT } from "@uniknode/client";
import { present } from "../../packages/node/src/platform/present.ts";
import { apiUrlOf, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import { type ReceiverKind, type Receivers, startReceivers } from "./receivers.ts";
import { startStreams } from "./streams.ts";
import { startTraffic } from "./traffic.ts";

export type SoakOptions = {
  readonly minutes: number;
  /** Called once a minute with the intermediate results. */
  readonly onMinute?: (line: string) => void;
};

export type SoakReport = {
  readonly requests: number;
  readonly accepted: number;
  readonly deliveries: number;
  readonly streamedBlocks: number;
  /** Mean resident memory of the two halves in MiB, without the first tenth, in which caches fill. */
  readonly memoryMib: { readonly firstHalf: number; readonly lastHalf: number; readonly peak: number };
  /** Messages of all failures; empty on success. */
  readonly faults: readonly string[];
};

const TOKEN = "soak";
/** Webhooks by the kind of their receivers: 200. */
const WEBHOOKS: readonly (readonly [ReceiverKind, number])[] = [
  ["good", 140],
  ["failing", 20],
  ["hanging", 20],
  ["dripping", 20],
];
const STREAMS = 20;
const MEMORY_INTERVAL_MS = 1_000;
const MINUTE_MS = 60_000;
/** Maximum growth of the last half compared with the first. */
const MAX_GROWTH = 0.05;
const WARM_UP_SHARE = 0.1;
/** Time in which queued deliveries must arrive at the end. */
const DRAIN_MS = 10_000;
const MAX_FAULTS_SHOWN = 20;

export async function soak({ minutes, onMinute }: SoakOptions): Promise<SoakReport> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-soak-"));
  const node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--webhook-token", TOKEN]);
  const receivers = await startReceivers();
  try {
    await node.printed(/Ctrl-C stops/);
    const url = await apiUrlOf(node);
    const endpoint = new URL(url);
    const transactionWebhooks = await registerWebhooks(url, receivers);
    const streams = startStreams({
      host: endpoint.hostname,
      port: Number(endpoint.port),
      token: TOKEN,
      count: STREAMS,
    });
    const traffic = await startTraffic({ url, token: TOKEN });
    const memory: number[] = [];
    const sampling = setInterval(() => memory.push(residentMib(present(node.child.pid))), MEMORY_INTERVAL_MS);
    const found = () => [...streams.faults, ...traffic.faults, ...deliveryFaults(receivers)];

    const endsMs = performance.now() + minutes * MINUTE_MS;
    for (let minute = 1; performance.now() < endsMs && node.child.exitCode === null; minute++) {
      await Promise.race([sleep(Math.min(MINUTE_MS, endsMs - performance.now())), node.ended]);
      onMinute?.(
        `minute ${minute}: ${Math.round(memory.at(-1) ?? 0)} MiB, ${traffic.counts.requests} requests, ` +
          `${traffic.counts.accepted} transactions, ${receivers.requests()} deliveries, ${found().length} faults`,
      );
    }
    await traffic.stop();
    await sleep(DRAIN_MS);
    clearInterval(sampling);
    const faults = [...found(), ...missingTransactions(receivers, transactionWebhooks)];
    if (node.child.exitCode !== null) faults.push(`the process ended: ${node.stderr().slice(-2_000)}`);
    streams.close();
    const memoryMib = halves(memory);
    const growth = memoryMib.lastHalf / memoryMib.firstHalf - 1;
    if (growth > MAX_GROWTH) faults.push(`memory grew by ${(growth * 100).toFixed(1)} %`);
    return {
      ...traffic.counts,
      deliveries: receivers.requests(),
      streamedBlocks: streams.blocks(),
      memoryMib,
      faults: faults.slice(0, MAX_FAULTS_SHOWN),
    };
  } finally {
    node.child.kill("SIGTERM");
    await node.ended;
    await receivers.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Subscribes every other good webhook to transactions, and returns their numbers. */
async function registerWebhooks(url: string, receivers: Receivers): Promise<number[]> {
  const transactionWebhooks: number[] = [];
  let number = 0;
  for (const [kind, count] of WEBHOOKS) {
    for (let index = 0; index < count; index++, number++) {
      const isAboutTransactions = index % 2 === 1;
      if (kind === "good" && isAboutTransactions) transactionWebhooks.push(number);
      const response = await fetch(`${url}/api/v2/webhooks`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: TOKEN },
        body: JSON.stringify({
          event: isAboutTransactions ? "transaction.applied" : "block.applied",
          target: receivers.target(kind, number),
          conditions: [EVERY_EVENT],
          order: "strict",
        }),
      });
      if (!response.ok) throw new Error(`failed to register a webhook: ${await response.text()}`);
    }
  }
  return transactionWebhooks;
}

const deliveryFaults = ({ received }: Receivers): string[] =>
  [...received].flatMap(([number, { faults }]) => faults.map((fault) => `webhook ${number}: ${fault}`));

/** Checks that all these webhooks received the same transactions: any difference is a loss. */
function missingTransactions({ received }: Receivers, webhooks: readonly number[]): string[] {
  const all = new Set(webhooks.flatMap((number) => [...(received.get(number)?.ids ?? [])]));
  return webhooks.flatMap((number) => {
    const missing = all.difference(received.get(number)?.ids ?? new Set());
    return missing.size === 0 ? [] : [`webhook ${number}: ${missing.size} transactions did not arrive`];
  });
}

function halves(samples: readonly number[]): SoakReport["memoryMib"] {
  const warm = samples.slice(Math.ceil(samples.length * WARM_UP_SHARE));
  const middle = Math.floor(warm.length / 2);
  const mean = (part: readonly number[]) => part.reduce((sum, each) => sum + each, 0) / part.length;
  return {
    firstHalf: mean(warm.slice(0, middle)),
    lastHalf: mean(warm.slice(middle)),
    peak: Math.max(...samples),
  };
}

const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

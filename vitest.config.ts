import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Workers, their threads and the processes that they start read compiled code instead of sources.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compiled");

const node = (...folders: string[]) => folders.map((folder) => `packages/node/test/${folder}/**/*.test.ts`);

/** The real program, and browsers before it: most of the time they wait for blocks, timeouts and retries. */
const processes = [...node("program"), "packages/console/test/browser/**/*.test.ts"];
/** Nodes that wait for the slots of their delegates, which need free processors to keep their time. */
const networks = [
  ...node("network", "peers/network", "simulation", "crash"),
  "packages/node/test/cluster/run.test.ts",
];
/** A node under attack, which needs all processors: its longest tick is measured. */
const attacks = node("siege");
/** Makes the worker, and the processes that it starts, wait while networks need the processors. */
const patient = join(import.meta.dirname, "packages/node/test-support/process/low-priority.ts");

/**
 * Files with a process of their own: they mock modules, change the environment, measure memory or throughput, depend on the timers
 * of the whole process, or leave writes to closed descriptors behind. Modules of the console hold the state of a page.
 */
const isolated = [
  ...[
    ...["chain/inputs", "commands/program", "http/connections", "http/late-response"],
    ...["platform/lifecycle/heap", "platform/logging/lines", "stream/stream"],
    ...["webhooks/memory", "webhooks/ticks"],
  ].map((name) => `packages/node/test/${name}.test.ts`),
  "packages/protocol/test/blocks/once.test.ts",
  "packages/console/test/**/*.test.ts",
];

/**
 * The files that take longest, longest first. They start first: one that starts last would run alone while the other
 * workers have nothing to do. Without this list a clean checkout starts the largest files first.
 */
const LONGEST = [
  ...["network/network", "peers/network/hostile", "guides/guides", "chain/kill"],
  ...["peers/network/network", "hand-over/interrupted", "processes/serving/thread", "peers/network/old-node"],
  ...["deliver/process", "hand-over/process", "serve/replicas", "release/oldest-runtimes"],
  ...["peers/network/shutdown", "release/installed", "cluster/run", "commands/scenario/run"],
  ...["commands/scenario/record", "crash/crash", "webhooks/nats/exactly-once", "store/history/history"],
  ...["peers/transport/sleeping-peers", "http/reorganisation/reorganisation", "mirror/events"],
  ...["program/daily", "browser/stability", "program/life", "program/listening"],
  ...["program/log", "browser/screens", "browser/webhooks", "browser/outage", "program/signing"],
  ...["browser/docs", "browser/send", "program/dev-archive", "program/endings"],
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => groupOf(a) - groupOf(b) || rankOf(a) - rankOf(b));
  }
}

const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;

function rankOf({ moduleId }: TestSpecification): number {
  const index = LONGEST.findIndex((name) => moduleId.endsWith(name));
  return index === -1 ? LONGEST.length : index;
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    // As a page waits for an element: one second is little on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    hideSkippedTests: false,
    reporters: [["default", { summary: false }]],
    // One group after the other; the number of workers is what two processors can do with it: most tests wait for
    // sockets, blocks and timers, and two workers use a little more than one processor.
    projects: [
      {
        extends: true,
        test: {
          name: "rooms",
          include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...processes, ...networks, ...attacks, ...isolated],
          // The modules of the node are loaded and optimised once per worker instead of once per file.
          isolate: false,
          setupFiles: patient,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          include: isolated,
          exclude: processes,
          setupFiles: patient,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "networks", include: networks, maxWorkers: 4, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: "processes",
          include: processes,
          isolate: false,
          setupFiles: patient,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: "attacks", include: attacks, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
});

import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { WAIT_MS } from "./packages/node/test-support/process/until.ts";

// Workers, their threads and the processes that they start read compiled code instead of sources.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compiled");

const node = (...folders: string[]) => folders.map((folder) => `packages/node/test/${folder}/**/*.test.ts`);
const files = (...names: string[]) => names.map((name) => `packages/node/test/${name}.test.ts`);

/*
 * Two lanes: `npm test` runs the fast one, with the tests of every rule, error, boundary, port, route and screen. `npm run test:long` runs
 * what needs many processes, long faults, other runtimes, releases, browsers and attacks.
 */

/** The real program, and browsers before it: most of the time they wait for blocks, timeouts and retries. */
const processes = [
  ...node("program", "guides"),
  ...files("hand-over/interrupted", "hand-over/process", "hand-over/served"),
  "packages/console/test/browser/**/*.test.ts",
];
/** Those of them that show in the fast lane that the program starts, forges, delivers, and that the screens open. */
const smoke = [
  ...files("program/events", "program/interface"),
  "packages/console/test/browser/screens.test.ts",
];
/** Nodes that wait for the slots of their delegates, which need free processors to keep their time. */
const networks = [
  ...node("network", "peers/network"),
  ...files("faults/cluster", "faults/network", "faults/webhooks"),
];
/** A node under attack, which needs all processors: its longest tick is measured. */
const attacks = node("siege");
/** Other tests with many processes or long faults. */
const longRooms = [
  ...files(
    "archive/killed-commands",
    "archive/killed-program",
    "archive/snapshot",
    "chain/kill",
    "clients/ark",
  ),
  ...files("commands/completion", "commands/listen/listen"),
  ...files("conform/command", "conform/defects", "conform/examples"),
  ...files(
    "architecture/native",
    "deliver/process",
    "deliver/replay",
    "dev-chain/commands",
    "http/reorganisation/reorganisation",
    "mirror/events",
    "mirror/of-node",
    "mirror/other-chain",
    "mirror/process",
  ),
  ...files(
    "peers/branches",
    "peers/transport/sleeping-peers",
    "postgres/closed-clone",
    "processes/serving/thread",
  ),
  ...files(
    "serve/privileges",
    "serve/process",
    "serve/replicas",
    "store/history/history",
    "verification/arm64",
    "webhooks/model/model",
    "webhooks/nats/exactly-once",
    "webhooks/postgres/log",
  ),
  "packages/client/test/testing.test.ts",
  "test/recipes/*.test.ts",
  "test/release/**/*.test.ts",
];
const long = [...processes, ...networks, ...attacks, ...longRooms];
/** Makes the worker, and the processes that it starts, wait while networks need the processors. */
const patient = join(import.meta.dirname, "packages/node/test-support/process/low-priority.ts");
/** Ends what the run has started, also if the run is killed. */
const run = join(import.meta.dirname, "packages/node/test-support/process/run.ts");

/**
 * Files with a process of their own: they mock modules, change the environment, measure memory or throughput, depend on the timers
 * of the whole process, or leave writes to closed descriptors behind. Modules of the console hold the state of a page.
 */
const isolated = [
  ...files("chain/inputs", "commands/program", "http/connections", "http/late-response"),
  ...files("platform/lifecycle/heap", "platform/logging/lines", "stream/stream"),
  ...files("webhooks/memory", "webhooks/ticks"),
  "packages/protocol/test/blocks/once.test.ts",
  "packages/console/test/**/*.test.ts",
];

/**
 * The files that take longest, longest first. They start first: one that starts last would run alone while the other
 * workers have nothing to do. Without this list a clean checkout starts the largest files first.
 */
const LONGEST = [
  ...["faults/network", "peers/network/hostile", "guides/guides", "chain/kill"],
  ...["peers/network/network", "hand-over/interrupted", "processes/serving/thread", "peers/network/old-node"],
  ...["deliver/process", "hand-over/process", "serve/replicas", "release/oldest-runtimes"],
  ...["peers/network/shutdown", "release/installed", "faults/cluster"],
  ...["faults/webhooks", "webhooks/nats/exactly-once", "store/history/history"],
  ...["peers/transport/sleeping-peers", "http/reorganisation/reorganisation", "mirror/events"],
  ...["program/daily", "browser/stability", "program/life", "program/listening"],
  ...["program/log", "browser/screens", "browser/webhooks", "browser/outage", "program/signing"],
  ...["browser/docs", "browser/send", "program/dev-archive", "program/endings"],
  ...["vectors", "chain/vectors", "webhooks/queue-port/postgres", "mirror/mirror", "facts/growth"],
  ...["mirror/faults", "peers/peers", "webhooks/isolation", "property/chain", "facts/long-uniks", "runs"],
  ...["archive/integrity", "http/connections", "verification/native-damage", "chain/chain"],
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

/** Tests of the long lane run faults and attacks for minutes. */
const longTimeouts = { testTimeout: 10 * WAIT_MS, hookTimeout: 10 * WAIT_MS };

export default defineConfig({
  test: {
    globalSetup: run,
    sequence: { sequencer: LongestFirst },
    // They end a test that hangs, and no other one, however busy the machine is.
    testTimeout: 2 * WAIT_MS,
    hookTimeout: 2 * WAIT_MS,
    expect: { poll: { timeout: WAIT_MS } },
    hideSkippedTests: false,
    reporters: [["default", { summary: false }]],
    // One group after the other; the number of workers is what two processors can do with it: most tests wait for
    // sockets, blocks and timers, and two workers use a little more than one processor.
    projects: [
      {
        extends: true,
        test: {
          name: "fast rooms",
          include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...long, ...isolated],
          // The modules of the node are loaded and optimised once per worker instead of once per file.
          isolate: false,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "fast isolated",
          include: isolated,
          exclude: processes,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "fast processes",
          include: smoke,
          isolate: false,
          maxWorkers: 4,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "long networks",
          include: networks,
          ...longTimeouts,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "long rooms",
          include: longRooms,
          ...longTimeouts,
          isolate: false,
          setupFiles: patient,
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "long processes",
          include: processes,
          ...longTimeouts,
          exclude: smoke,
          isolate: false,
          setupFiles: patient,
          maxWorkers: 4,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          name: "long attacks",
          include: attacks,
          ...longTimeouts,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});

import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Notifier } from "../../src/platform/notifier.ts";
import { present } from "../../src/platform/present.ts";
import { follow } from "../../src/stream/follow.ts";
import { Sink } from "../../src/stream/sink.ts";
import { positionText, readPosition, type Source, type SourceEvent } from "../../src/stream/source.ts";
import { readSubscription } from "../../src/stream/subscription.ts";
import { NO_MATCHING_OBSERVER, Slices } from "../../src/subscriptions/conditions/slices.ts";
import { applied, reverted } from "../../test-support/stream/support.ts";

const sourceEvent = (event: ReturnType<typeof applied>): SourceEvent => ({
  event,
  frame: () => `${event.id}\n`,
});
const logged = (event: ReturnType<typeof applied>, index: number) => {
  const inLog = { ...event, sequence: index + 1, createdMs: 0 };
  return { event: inLog, frame: () => `${event.id}\n` };
};
const quiet = {
  slices: new Slices(NO_MATCHING_OBSERVER),
  observer: NO_MATCHING_OBSERVER,
  onPosition() {},
  onFull() {},
  onTooExpensive() {},
};

test.each([
  ["while the second is sent", 2],
  ["when the third is about to be read", 3],
])("Blocks that are reverted %s are retracted, and their replacements are sent.", async (_, revertedAt) => {
  const stored = [applied(1), applied(2, "201"), applied(3, "301")];
  const log = [reverted(3), reverted(2), applied(2, "201"), applied(3, "301")];
  let isReverted = false;
  const before = [applied(1), applied(2), applied(3)];
  const source: Source = {
    end: async () => ({ sequence: isReverted ? log.length : 0 }),
    begin: async () => 0,
    hasBlock: async ({ height, blockId }) =>
      (isReverted ? stored : before).some((event) => event.height === height && event.blockId === blockId),
    log: async (after) => ({ events: log.map(logged).slice(after), sequence: log.length, isEnd: true }),
    async chain(height) {
      if (height === 3) isReverted = true;
      const event = (isReverted ? stored : before)[height - 1];
      if (height === revertedAt) isReverted = true;
      return (
        event && {
          events: [sourceEvent(event)],
          block: { height, blockId: present(event.blockId, "the id of its block") },
        }
      );
    },
    refresh() {},
  };
  const response = new PassThrough();
  let text = "";
  response.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  const notifier = new Notifier();
  const sink = new Sink(response, () => notifier.notify());
  const subscription = readSubscription({ events: ["block.applied"] });
  const done = follow(
    { from: "chain", height: 1, after: 0 },
    { source, subscription, sink, notifier, ...quiet },
  );
  await expect.poll(() => text.trim().split("\n")).toHaveLength(6);
  expect(text.trim().split("\n")).toEqual([
    "block.applied:100",
    "block.applied:200",
    // Retracted although it was never sent: the log does not record what was sent.
    "block.reverted:300",
    "block.reverted:200",
    "block.applied:201",
    "block.applied:301",
  ]);
  response.destroy();
  await done;
});

test.each([
  ["17", { sequence: 17 }],
  ["17-0a0b0c0d", { sequence: 17, logId: "0a0b0c0d" }],
  ["17-0a0b0c0d.3.12345", { sequence: 17, logId: "0a0b0c0d", block: { height: 3, blockId: "12345" } }],
  ["17.3.12345", { sequence: 17, block: { height: 3, blockId: "12345" } }],
  [".3.12345", { block: { height: 3, blockId: "12345" } }],
  [`0.1.${"ab".repeat(32)}`, { sequence: 0, block: { height: 1, blockId: "ab".repeat(32) } }],
])("%s is a position", (text, position) => {
  expect(readPosition(text)).toEqual(position);
  expect(positionText(position)).toBe(text);
});

test.each([
  "",
  ".",
  "x",
  "17.",
  "17.3",
  "17.3.",
  "-1",
  "1.2.3.4",
  "17.3.xyz",
  "17-",
  "-0a0b0c0d.3.12345",
  "1".repeat(16),
])("%j is not a position", (text) => {
  expect(readPosition(text)).toBeUndefined();
});

test("A heartbeat while a page is sent has no position.", async () => {
  const events = [applied(1), applied(2)].map(logged);
  const source: Source = {
    end: async () => ({ sequence: 2 }),
    begin: async () => 0,
    hasBlock: async () => true,
    log: async (after) => ({ events: events.slice(after), sequence: 2, isEnd: true }),
    chain: async () => undefined,
    refresh() {},
  };
  const notifier = new Notifier();
  const response = new PassThrough();
  response.resume();
  const sink = new Sink(response, () => notifier.notify());
  let position: object | undefined = { sequence: 0 };
  const seen: unknown[] = [];
  const written = new Promise<void>((resolve) => response.on("data", () => resolve()));
  const subscription = readSubscription({ events: ["block.applied"] });
  const done = follow(
    { from: "log", after: 0 },
    {
      ...quiet,
      source,
      sink,
      notifier,
      subscription: {
        ...subscription,
        nameOf(event) {
          seen.push(position);
          return subscription.nameOf(event);
        },
      },
      onPosition(next) {
        position = next;
      },
    },
  );
  await written;
  expect(seen).toEqual([undefined, undefined]);
  await expect.poll(() => position).toEqual({ sequence: 2 });
  response.destroy();
  await done;
});

/**
 * Calls between the threads: each gets its result, or ends with a reason, and none leaves anything in memory.
 */
import { once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import {
  type ChannelOptions,
  DEFAULT_CHANNEL_OPTIONS,
  gatewayThrough,
  serveCalls,
} from "../../src/gateway/channel.ts";
import { BodyError, type Gateway, type NodeStatus } from "../../src/gateway/gateway.ts";
import { createGateway } from "../../test-support/http/fixture.ts";

const STATUS: NodeStatus = { synced: true, now: 1, blocksCount: 0, timestamp: 2 };
const SHORT_MS = 50;

const hurried = (options: Partial<ChannelOptions> = {}): ChannelOptions => ({
  ...DEFAULT_CHANNEL_OPTIONS,
  timeoutsMs: { ...DEFAULT_CHANNEL_OPTIONS.timeoutsMs, status: SHORT_MS },
  ...options,
});

function open(overrides: Partial<Gateway> = {}, options?: ChannelOptions) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  serveCalls(port1, { ...createGateway(), ...overrides });
  return { port1, port2, ...gatewayThrough(port2, options) };
}

/**
 * Sends a message that this thread cannot read, from one whose stack is deep enough to write it, and returns
 * the port.
 */
async function postUnreadable(port: MessagePort): Promise<MessagePort> {
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     let deep = [];
     for (let depth = 0; depth < 100_000; depth++) deep = [deep];
     workerData.postMessage({ number: 1, method: "status", parameters: [deep], deadline: Infinity });
     parentPort.postMessage(workerData, [workerData]);`,
    { eval: true, workerData: port, transferList: [port], resourceLimits: { stackSizeMb: 200 } },
  );
  const [back] = (await once(worker, "message")) as [MessagePort];
  return back;
}

test("a call gets its result, and leaves nothing in memory", async () => {
  const { gateway, figures } = open({ status: async () => STATUS });
  const result = gateway.status();
  expect(figures().open).toBe(1);
  expect(await result).toEqual(STATUS);
  expect(figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
});

test("a call ends at its deadline; a late result is dropped and frees its slot", async () => {
  const late = Promise.withResolvers<NodeStatus>();
  const { gateway, figures } = open({ status: () => late.promise }, hurried());
  await expect(gateway.status()).rejects.toMatchObject({ code: "CALL_TIMEOUT", isRetryable: true });
  expect(figures()).toEqual({ open: 1, timedOut: 1, refused: 0 });
  late.resolve(STATUS);
  await expect.poll(figures).toEqual({ open: 0, timedOut: 1, refused: 0 });
});

test("a call that has not started at its deadline is not executed", async () => {
  let submitted = 0;
  const { gateway, figures } = open(
    {
      submit: async () => {
        submitted += 1;
        return { data: { accept: [], broadcast: [], excess: [], invalid: [] } };
      },
    },
    hurried({ timeoutsMs: { ...DEFAULT_CHANNEL_OPTIONS.timeoutsMs, submit: SHORT_MS } }),
  );
  const call = gateway.submit([{}]);
  // The other end is busy with one call.
  const end = performance.now() + 2 * SHORT_MS;
  while (performance.now() < end);
  await expect(call).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  await expect.poll(() => figures().open).toBe(0);
  expect(submitted).toBe(0);
});

test("calls beyond the bound are refused at once, including those whose results have no waiting caller", async () => {
  const silent = Promise.withResolvers<NodeStatus>();
  const { gateway, figures } = open({ status: () => silent.promise }, hurried({ maxCalls: 2 }));
  await Promise.allSettled([gateway.status(), gateway.status()]);
  await expect(gateway.peers()).rejects.toMatchObject({ code: "CALL_REFUSED", isRetryable: true });
  expect(figures()).toEqual({ open: 2, timedOut: 2, refused: 1 });
  silent.resolve(STATUS);
  await expect.poll(() => figures().open).toBe(0);
  expect(await gateway.peers()).toEqual(await createGateway().peers());
});

test("large calls are refused while others of their size are open; one alone never is", async () => {
  const result = { data: { accept: [], broadcast: [], excess: [], invalid: [] } };
  const { gateway } = open({ submit: async () => result }, hurried({ maxLength: 1_000 }));
  const large = [{ text: "x".repeat(2_000) }];
  const first = gateway.submit(large);
  await expect(gateway.submit(large)).rejects.toMatchObject({ code: "CALL_REFUSED" });
  expect(await first).toEqual(result);
  expect(await gateway.submit(large)).toEqual(result);
});

test("a parameter that cannot be copied ends its call only", async () => {
  const { gateway, figures } = open();
  await expect(gateway.submit([() => {}])).rejects.toThrow("could not be cloned");
  expect(figures().open).toBe(0);
  expect(await gateway.pendingTransaction("unknown")).toBeUndefined();
});

test("a result that cannot be copied ends its call only", async () => {
  const { gateway, figures } = open({ peers: async () => [(() => {}) as never] });
  await expect(gateway.peers()).rejects.toThrow("could not be cloned");
  expect(figures().open).toBe(0);
});

test("a call that cannot be read ends the waiting ones, since it may be any of them", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const { gateway, figures } = gatewayThrough(await postUnreadable(port2));
  const calls = Promise.allSettled([gateway.status(), gateway.peers()]);
  serveCalls(port1, {
    ...createGateway(),
    status: () => new Promise(() => {}),
    peers: () => new Promise(() => {}),
  });
  for (const call of await calls) expect(call).toMatchObject({ reason: { code: "CALL_LOST" } });
  expect(figures().open).toBe(0);
  expect(await gateway.pendingTransaction("unknown")).toBeUndefined();
});

test("a result that cannot be read ends the waiting calls as well", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port2.close());
  await postUnreadable(port1);
  const { gateway } = gatewayThrough(port2);
  await expect(gateway.status()).rejects.toMatchObject({ code: "CALL_LOST" });
});

test("calls end when the port closes, and none begins afterwards", async () => {
  const { gateway, figures, port1 } = open({ status: () => new Promise(() => {}) });
  const call = gateway.status();
  port1.close();
  await expect(call).rejects.toMatchObject({ code: "CALL_CLOSED", isRetryable: true });
  await expect(gateway.peers()).rejects.toMatchObject({ code: "CALL_CLOSED" });
  expect(figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
});

test.each<[string, unknown, object]>([
  [
    "an error with a code",
    Object.assign(new Error("no"), { code: "DEV_ONLY" }),
    { code: "DEV_ONLY", message: "no" },
  ],
  [
    "an error with a number as code",
    Object.assign(new Error("no"), { code: 5 }),
    { code: undefined, message: "no" },
  ],
  ["a long message", new Error("x".repeat(1_000_000)), { message: "x".repeat(1_000) }],
  ["undefined", undefined, { message: "a value of type undefined was thrown" }],
  ["an object", Object.create(null), { message: "a value of type object was thrown" }],
  ["a symbol", Symbol("no"), { message: "a value of type symbol was thrown" }],
])("any thrown value is returned as an error: %s", async (_, thrown, expected) => {
  const { gateway } = open({
    status: async () => {
      throw thrown;
    },
  });
  const error = await gateway.status().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject(expected);
});

test("the refusal of a body is returned as one", async () => {
  const { gateway } = open();
  await expect(gateway.submit([])).rejects.toBeInstanceOf(BodyError);
});

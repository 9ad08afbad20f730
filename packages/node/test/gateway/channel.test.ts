/** The gateway over a message channel: the suite, and messages that cannot be read or copied. */
import { once } from "node:events";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ChannelGateway, serveCalls } from "../../src/gateway/channel.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { createGateway } from "../../test-support/http/fixture.ts";
import { describeGateway, SHORT_MS } from "./suite.ts";

describeGateway("over a message channel", (served, options) => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  serveCalls(port1, served);
  const closed = once(port2, "close");
  const channel = new ChannelGateway(port2, options);
  return {
    gateway: channel.gateway,
    figures: () => channel.figures(),
    async close() {
      port1.close();
      await closed;
    },
  };
});

function open(overrides: Partial<Gateway> = {}) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  serveCalls(port1, { ...createGateway(), ...overrides });
  return new ChannelGateway(port2);
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

test("A call with less time ends earlier than others.", async () => {
  const channel = open({ status: () => new Promise(() => {}) });
  await expect(channel.within(SHORT_MS).status()).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  await expect(channel.within(SHORT_MS).peers()).resolves.toEqual(await createGateway().peers());
});

test("A parameter that cannot be copied ends its call only.", async () => {
  const channel = open();
  await expect(channel.gateway.submit([() => {}])).rejects.toThrow("could not be cloned");
  expect(channel.figures().open).toBe(0);
  expect(await channel.gateway.pendingTransaction("unknown")).toBeUndefined();
});

test("A result that cannot be copied ends its call only.", async () => {
  const channel = open({ peers: async () => [(() => {}) as never] });
  await expect(channel.gateway.peers()).rejects.toThrow("could not be cloned");
  expect(channel.figures().open).toBe(0);
});

test("A call that cannot be read ends the waiting ones, since it may be any of them.", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const channel = new ChannelGateway(await postUnreadable(port2));
  const calls = Promise.allSettled([channel.gateway.status(), channel.gateway.peers()]);
  serveCalls(port1, {
    ...createGateway(),
    status: () => new Promise(() => {}),
    peers: () => new Promise(() => {}),
  });
  for (const call of await calls) expect(call).toMatchObject({ reason: { code: "CALL_LOST" } });
  expect(channel.figures().open).toBe(0);
  expect(await channel.gateway.pendingTransaction("unknown")).toBeUndefined();
});

test("A result that cannot be read ends the waiting calls as well.", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port2.close());
  await postUnreadable(port1);
  const { gateway } = new ChannelGateway(port2);
  await expect(gateway.status()).rejects.toMatchObject({ code: "CALL_LOST" });
});

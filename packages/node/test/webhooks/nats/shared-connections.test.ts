/** Connections that webhooks share, with clients that the test opens. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { NatsTarget } from "../../../src/webhooks/model/targets.ts";
import { SharedConnections } from "../../../src/webhooks/nats/post.ts";
import type { StreamClient } from "../../../src/webhooks/nats/stream-client.ts";

const targetOf = (port: number, token?: string): NatsTarget => ({
  ...{ isSecure: false, host: "nats.example", port, subject: "chain" },
  credentials: token === undefined ? undefined : { token },
});

/** Connections whose clients do nothing; `open` lists the ports of open ones. */
function build(limits: { idleMs?: number; maxIdle?: number } = {}) {
  const open: number[] = [];
  const connections = new SharedConnections({
    ...limits,
    async open({ port }) {
      const { promise, resolve } = Promise.withResolvers<void>();
      open.push(port);
      const close = async () => {
        if (open.includes(port)) open.splice(open.indexOf(port), 1);
        resolve();
      };
      return { closed: promise, close } as Pick<StreamClient, "closed" | "close"> as StreamClient;
    },
  });
  onTestFinished(() => connections.close());
  return {
    use: connections.use.bind(connections) as SharedConnections["use"],
    retire: (target: NatsTarget) => connections.retire(target),
    size: () => connections.size(),
    open,
  };
}

test("One connection serves all calls to a server and user.", async () => {
  const { use, open } = build();
  const clients = await Promise.all([1, 2, 3].map(() => use(targetOf(1), async (client) => client)));
  expect(new Set(clients).size).toBe(1);
  expect(await use(targetOf(1, "other"), async (client) => client)).not.toBe(clients[0]);
  expect(open).toEqual([1, 1]);
});

test("A connection is closed after a time without calls.", async () => {
  const { use, open, size } = build({ idleMs: 30 });
  const end = Promise.withResolvers<void>();
  const running = use(targetOf(1), () => end.promise);
  await use(targetOf(2), async () => {});
  await expect.poll(() => open).toEqual([1]);
  end.resolve();
  await running;
  await expect.poll(size).toBe(0);
});

test("The connection that has been idle for the longest time is closed if there are too many.", async () => {
  const { use, open } = build({ maxIdle: 2 });
  for (const port of [1, 2, 1, 3]) await use(targetOf(port), async () => {});
  await expect.poll(() => open.toSorted()).toEqual([1, 3]);
});

test("A retired connection ends after its calls; later calls get another one.", async () => {
  const { use, retire, open, size } = build();
  const end = Promise.withResolvers<void>();
  const running = use(targetOf(1), () => end.promise);
  retire(targetOf(1));
  await use(targetOf(1), async () => {});
  expect(open).toEqual([1, 1]);
  end.resolve();
  await running;
  await expect.poll(size).toBe(1);
  retire(targetOf(1));
  await expect.poll(size).toBe(0);
  retire(targetOf(1));
});

test("A connection that could not be opened is opened again by the next call.", async () => {
  let isDown = true;
  const connections = new SharedConnections({
    async open() {
      if (isDown) throw new Error("down");
      return { closed: new Promise(() => {}), close: async () => {} } as unknown as StreamClient;
    },
  });
  onTestFinished(() => connections.close());
  await expect(connections.use(targetOf(1), async () => {})).rejects.toThrow("down");
  await sleep(0);
  expect(connections.size()).toBe(0);
  isDown = false;
  await connections.use(targetOf(1), async () => {});
  expect(connections.size()).toBe(1);
});

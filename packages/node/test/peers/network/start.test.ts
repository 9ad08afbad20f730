/** Events of the start of a node that has peers, as webhooks receive them (events.md 3.4 and 3.7). */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EVERY_EVENT } from "@uniknode/client";
import { expect, test } from "vitest";
import { createWorld } from "../../../test-support/peers/world.ts";

const TOKEN = "start-test";

test("A node reports that it is in sync before it forges.", async ({ onTestFinished }) => {
  const events: { event: string; timestamp: number }[] = [];
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    events.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  const world = await createWorld({ nodes: 1, blocktime: 2 });
  onTestFinished(world.close);
  const start = () => world.start(0, "--webhook-token", TOKEN, "--webhook-private-targets");

  const node = await start();
  const { status } = await fetch(`${node.url}/api/webhooks`, {
    method: "POST",
    headers: { authorization: TOKEN, "content-type": "application/json" },
    body: JSON.stringify({
      events: ["state.started", "forger.started"],
      order: "strict",
      target: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      conditions: [EVERY_EVENT],
    }),
  });
  expect(status).toBe(201);
  await node.stop();
  // Events of the first start may arrive later.
  const restartedMs = Date.now();
  await start();
  const order = () => events.filter(({ timestamp }) => timestamp >= restartedMs).map(({ event }) => event);
  await expect.poll(order).toEqual(["state.started", "forger.started"]);
});

/** Events of the start of a node that has peers, as webhooks receive them (events.md 3.4 and 3.7). */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createWorld } from "../../../test-support/peers/world.ts";

const TOKEN = "start-test";

test("A node reports that it is in sync before it forges.", async ({ onTestFinished }) => {
  const events: { event: string; sequence: number }[] = [];
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
  for (const event of ["state.started", "forger.started"]) {
    const { status } = await fetch(`${node.url}/api/webhooks`, {
      method: "POST",
      headers: { authorization: TOKEN, "content-type": "application/json" },
      body: JSON.stringify({
        event,
        target: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
        conditions: [{ key: "none", condition: "ne", value: "" }],
      }),
    });
    expect(status).toBe(201);
  }
  await node.stop();
  events.length = 0;
  await start();
  await expect.poll(() => events.length).toBe(2);
  const order = events.toSorted((a, b) => a.sequence - b.sequence).map(({ event }) => event);
  expect(order).toEqual(["state.started", "forger.started"]);
});

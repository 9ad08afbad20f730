/** A running chain with hostile receivers and readers, and others that must not be affected. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { type Listener, listen as openStream } from "../../test-support/stream/support.ts";
import { HOSTILE, listen } from "../../test-support/webhooks/hostile.ts";

const TOKEN = "isolation-test";
const HOSTILE_WEBHOOKS = 120;

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-isolation-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

async function start(folder: string): Promise<{ node: Running; url: string; stop: () => Promise<void> }> {
  const node = spawnUniknode([
    ...["dev", "--data", folder, "--http-port", "0", "--block-time", "1"],
    ...["--webhook-token", TOKEN],
  ]);
  const stop = async () => {
    node.child.kill("SIGTERM");
    await node.ended;
  };
  onTestFinished(stop);
  const url = await apiUrlOf(node);
  return { node, url: url, stop };
}

async function register(url: string, target: string): Promise<void> {
  const response = await fetch(`${url}/api/webhooks`, {
    method: "POST",
    headers: { authorization: TOKEN, "content-type": "application/json" },
    body: JSON.stringify({
      event: "block.applied",
      target,
      conditions: [{ key: "id", condition: "ne", value: "" }],
    }),
  });
  expect(response.status).toBe(201);
}

/** Heights in the order of delivery. */
async function receiver(): Promise<{ heights: number[]; target: string }> {
  const heights: number[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    heights.push((JSON.parse(text) as { height: number }).height);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heights, target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const blocksOf = (url: string, lastId = ""): Promise<Listener> =>
  openStream(`${url}/api/events?events=block.applied`, { authorization: TOKEN, "last-event-id": lastId });
const heightsOf = ({ events }: Listener) => events.map(({ data }) => Number(data.height));
const follows = (heights: readonly number[]) =>
  heights.every((height, index) => index === 0 || height === present(heights[index - 1]) + 1);

test("Hostile receivers and readers affect neither the chain nor others.", async () => {
  const { url } = await start(openFolder());
  const targets = await Promise.all(Object.values(HOSTILE).map(listen));
  for (let count = 0; count < HOSTILE_WEBHOOKS; count++)
    await register(url, present(targets[count % targets.length]));
  const { heights, target } = await receiver();
  await register(url, target);
  for (let count = 0; count < 5; count++) {
    const idle = await openStream(`${url}/api/events`, { authorization: TOKEN });
    idle.pause();
  }
  const stream = await blocksOf(url);

  // In parallel order, a delivery can overtake the one before it, and is repeated after a late response.
  const delivered = () => [...new Set(heights)].sort((a, b) => a - b);
  await expect.poll(() => delivered().length > 7 && follows(delivered())).toBe(true);
  await expect.poll(() => stream.events.length).toBeGreaterThan(7);
  expect(heightsOf(stream)).toSatisfy(follows);
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  const page = await (await fetch(`${url}/metrics`)).text();
  expect(page).toMatch(/uniknode_webhook_deliveries_total\{webhook="\d+",outcome="retried"\} [1-9]/);
  expect(page).toMatch(/uniknode_webhook_deliveries_total\{webhook="\d+",outcome="delivered"\} [1-9]/);
  expect(page).toMatch(/uniknode_streams 6/);
});

test("A reader of the stream misses no block over a restart of the node.", async () => {
  const folder = openFolder();
  const first = await start(folder);
  const before = await blocksOf(first.url);
  await expect.poll(() => before.events.length).toBeGreaterThan(1);
  before.close();
  const received = heightsOf(before);
  // Blocks without a connected subscriber.
  const height = async () =>
    Number(
      ((await (await fetch(`${first.url}/api/blockchain`)).json()) as { data: { block: { height: number } } })
        .data.block.height,
    );
  await expect.poll(height).toBeGreaterThan(present(received.at(-1)) + 1);
  await first.stop();

  const second = await start(folder);
  const after = await blocksOf(second.url, before.lastId());
  expect(after.status).toBe(200);
  await expect.poll(() => after.events.length).toBeGreaterThan(3);
  expect([...received, ...heightsOf(after)]).toSatisfy(follows);
});

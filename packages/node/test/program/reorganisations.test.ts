/** State of receivers after a running node reorganised, was killed, and replayed the past. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { type Client, createClient } from "@uniknode/client";
import { expect, onTestFinished, test } from "vitest";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const TOKEN = "reorganisations-test";
/** Webhooks of this order; the others are parallel. */
const STRICT = new Set([2, 4]);

type Message = {
  id: string;
  event: string;
  webhookId: number;
  sequence: number;
  reverts?: string;
  blockId: string;
};

/** Records every delivery. */
async function openReceiver() {
  const messages: Message[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Omit<Message, "sequence">;
    messages.push({ ...body, sequence: Number(request.headers["webhook-sequence"]) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  /** Blocks that were delivered to a webhook and not retracted, in order. */
  function blocksOf(webhook: number): string[] {
    const book = new Map<string, Message>();
    const own = messages.filter(({ webhookId }) => webhookId === webhook);
    // In parallel order, messages that follow each other closely may overtake each other.
    for (const message of own.sort((a, b) => (STRICT.has(webhook) ? 0 : a.sequence - b.sequence))) {
      if (message.reverts !== undefined) book.delete(message.reverts);
      else if (!book.has(message.id)) book.set(message.id, message);
    }
    return [...book.values()].flatMap(({ event, blockId }) => (event === "block.applied" ? [blockId] : []));
  }
  return { messages, blocksOf, target: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

async function start(folder: string): Promise<{ node: Running; client: Client }> {
  const node = spawnUniknode([
    ...[
      "dev",
      "--data",
      folder,
      "--http-port",
      "0",
      "--webhook-token",
      TOKEN,
      "--webhook-retries",
      "1s,1s,1s",
    ],
  ]);
  onTestFinished(async () => {
    node.child.kill("SIGKILL");
    await node.ended;
  });
  const url = await apiUrlOf(node);
  const client = createClient({ url: url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
  // The commands are available after the first blocks.
  await expect.poll(() => client.dev.forge({ enabled: false }).catch(() => undefined)).toBeDefined();
  return { node, client };
}

/** Ids of the blocks on the chain from a height on. */
async function chainOf(client: Client, from: number): Promise<string[]> {
  const { data } = await client.blocks.list().page({ limit: 100 });
  return data
    .filter(({ height }) => Number(height) >= from)
    .map(({ id }) => id)
    .reverse();
}

test("Every receiver has exactly the blocks of the chain.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-reorganisations-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { blocksOf, messages, target } = await openReceiver();
  let { node, client } = await start(folder);

  const everything = { target, conditions: [{ key: "nothing", condition: "ne" as const, value: "x" }] };
  const events = ["block.*", "transaction.*", "round.*", "forger.missing", "wallet.*"];
  await client.webhooks.create({ ...everything, events });
  await client.webhooks.create({ ...everything, events, order: "strict" });
  await client.webhooks.create({ ...everything, events, confirmations: 4 });
  const { head } = (await client.dev.mine({ blocks: 5 })).data;
  const first = head.height - 4;

  await client.dev.reorg({ depth: 3 });
  await client.dev.mine({ blocks: 2 });
  // While deliveries are in flight.
  node.child.kill("SIGKILL");
  await node.ended;
  ({ node, client } = await start(folder));
  await client.dev.reorg({ depth: 4, blocks: 6 });

  const chain = await chainOf(client, first);
  for (const webhook of [1, 2]) await expect.poll(() => blocksOf(webhook)).toEqual(chain);
  await expect.poll(() => blocksOf(3)).toEqual(chain.slice(0, -4));
  expect(messages.some(({ reverts }) => reverts !== undefined)).toBe(true);
  expect(messages.filter(({ webhookId, reverts }) => webhookId === 3 && reverts !== undefined)).toEqual([]);

  // The past, of which a fourth webhook received nothing.
  const { id } = (await client.webhooks.create({ ...everything, events, order: "strict" })).data;
  const { toHeight } = (await client.webhooks.replay(id, { fromHeight: first, toHeight: 1_000_000 })).data;
  expect(toHeight).toBe(first + chain.length - 1);
  node.child.kill("SIGKILL");
  await node.ended;
  ({ node, client } = await start(folder));
  await expect.poll(async () => (await client.webhooks.getReplay(id)).data.state).toBe("finished");
  // A block that the node forged before it was paused is delivered while the replay runs.
  const forged = (await chainOf(client, first)).slice(chain.length);
  const replayed = () => blocksOf(id).filter((block) => !forged.includes(block));
  await expect.poll(replayed).toEqual(chain);
  await expect.poll(() => blocksOf(id).filter((block) => forged.includes(block))).toEqual(forged);

  // Numbers without gaps, each of one message.
  for (const webhook of [1, 2, 3, id]) {
    const own = () => messages.filter(({ webhookId }) => webhookId === webhook);
    const idsBySequence = () => new Map(own().map(({ sequence, id }) => [sequence, id]));
    await expect.poll(() => Math.max(...idsBySequence().keys()) - idsBySequence().size).toBe(0);
    const idBySequence = idsBySequence();
    expect(new Set(idBySequence.values()).size).toBe(idBySequence.size);
    for (const { sequence, id } of own()) expect(id).toBe(idBySequence.get(sequence));
  }
});

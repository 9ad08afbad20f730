/** `/dev/fail` on a real dev chain, with a real receiver. */

import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@uniknode/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiUrlOf, type Running, spawnUniknode } from "../../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../../test-support/process/until.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-failures-"));
const webhookToken = "failures-test";
let received = 0;
const receiver = createServer((_request, response) => {
  received++;
  response.writeHead(204).end();
});
let node: Running;
let client: Client;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const options = ["--http-port", "0", "--webhook-token", webhookToken, "--webhook-timeout", "1"];
  node = spawnUniknode(["dev", "--data", folder, ...options]);
  const url = await apiUrlOf(node);
  client = createClient({ url: url, webhookToken, timeoutMs: WAIT_MS });
});
afterAll(async () => {
  node.child.kill("SIGTERM");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true });
});

test("A receiver fails as requested, and receives again when that ends.", async () => {
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
  const { data: webhook } = await client.webhooks.create({ event: "block.reverted", target, conditions });
  const pingReason = async () => {
    const { state, reason } = (await client.webhooks.ping(webhook.id)).data;
    return [state, reason];
  };
  expect((await client.dev.failing()).data).toEqual([]);

  const refusing = { webhook: webhook.id, how: "refuse", status: 503 };
  expect((await client.dev.fail(webhook.id, { how: "refuse" })).data).toEqual([refusing]);
  expect((await client.dev.failing()).data).toEqual([refusing]);
  expect(await pingReason()).toEqual(["failed", "HTTP 503"]);
  await client.dev.fail(webhook.id, { how: "drop" });
  expect(await pingReason()).toEqual(["failed", expect.stringContaining("ECONNRESET")]);
  await client.dev.fail(webhook.id, { how: "delay", seconds: 20 });
  expect(await pingReason()).toEqual(["failed", expect.stringContaining("no response within 1000 ms")]);
  expect(received).toBe(0);

  expect((await client.dev.fail(webhook.id, { how: "not" })).data).toEqual([]);
  expect(await pingReason()).toEqual(["delivered", undefined]);
  expect(received).toBe(1);
});

test("The failure of a removed webhook is removed.", async () => {
  const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
  const target = "http://127.0.0.1:9/";
  const { data: webhook } = await client.webhooks.create({ event: "block.reverted", target, conditions });
  await client.dev.fail(webhook.id, { how: "drop" });
  await client.webhooks.remove(webhook.id);
  expect((await client.dev.failing()).data).toEqual([]);
});

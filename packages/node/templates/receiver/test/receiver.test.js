/** The receiver on a dev chain of its own: a payment is sent, and its delivery arrives. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createClient } from "@uniknode/client";
import { pay, RECIPIENT } from "../pay.js";
import { createReceiver } from "../receiver.js";

const TOKEN = "token of the test";

/** Starts a dev chain that forges when a transaction arrives, and returns its base URL. */
async function startChain() {
  const data = mkdtempSync(join(tmpdir(), "dev-chain-"));
  const flags = ["--instant", "--http-port", "0", "--data", data, "--webhook-token", TOKEN];
  const chain = spawn("uniknode", ["dev", ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(chain, "close");
  after(async () => {
    chain.kill();
    await ended;
    rmSync(data, { recursive: true, force: true });
  });
  let printed = "";
  for await (const text of chain.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    printed += text;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed) ?? [];
    if (!url) continue;
    chain.stdout.resume();
    return url;
  }
  throw new Error(`the chain did not start: ${printed}`);
}

test("The receiver gets a verified delivery of a payment, and refuses others.", {
  timeout: 120_000,
}, async () => {
  const url = await startChain();
  const client = createClient({ url, webhookToken: TOKEN });

  let secret = "";
  const deliveries = [];
  const receiver = createReceiver({
    secret: () => secret,
    onDelivery: (delivery) => {
      deliveries.push(delivery);
      receiver.emit("delivered");
    },
  });
  receiver.listen(0, "127.0.0.1");
  after(() => receiver.close());
  await once(receiver, "listening");
  const target = `http://127.0.0.1:${receiver.address().port}/`;

  const { data: webhook } = await client.webhooks.create({
    event: "transaction.applied",
    target,
    conditions: [{ key: "amount", condition: "gte", value: "1" }],
  });
  secret = webhook.token;

  const delivered = once(receiver, "delivered");
  const id = await pay(client, 150_000_000n);
  await delivered;
  assert.equal(deliveries.length, 1);
  assert.equal(deliveries[0].event, "transaction.applied");
  assert.equal(deliveries[0].data.id, id);
  assert.equal(deliveries[0].data.recipientId, RECIPIENT);

  const forged = await fetch(target, { method: "POST", body: JSON.stringify(deliveries[0]) });
  assert.equal(forged.status, 401);
  assert.equal(deliveries.length, 1);
});

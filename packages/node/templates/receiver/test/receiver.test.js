/** The receiver on a dev chain of its own: a payment is sent, and its delivery arrives. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { startChain } from "@uniknode/client/testing";
import { pay, RECIPIENT } from "../pay.js";
import { createReceiver } from "../receiver.js";

test("The receiver gets a verified delivery of a payment, and refuses others.", {
  timeout: 120_000,
}, async () => {
  const chain = await startChain();
  after(() => chain.stop());
  const { client } = chain;

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
  await chain.mine();
  await delivered;
  assert.equal(deliveries.length, 1);
  assert.equal(deliveries[0].event, "transaction.applied");
  assert.equal(deliveries[0].data.id, id);
  assert.equal(deliveries[0].data.recipientId, RECIPIENT);

  const forged = await fetch(target, { method: "POST", body: JSON.stringify(deliveries[0]) });
  assert.equal(forged.status, 401);
  assert.equal(deliveries.length, 1);
});

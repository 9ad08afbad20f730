/** `npm start`: registers a webhook at the node, prints what it delivers, and removes it on Ctrl-C. */
import { once } from "node:events";
import { createClient } from "@uniknode/client";
import { createReceiver } from "./receiver.js";

// The token is that of `npm run chain`.
const { UNIKNODE_URL: url = "http://127.0.0.1:4003", UNIKNODE_TOKEN: webhookToken = "my-token" } =
  process.env;
const client = createClient({ url, webhookToken });

let secret = "";
const receiver = createReceiver({
  secret: () => secret,
  onDelivery: ({ event, height, data }) => console.log(`verified ${event} at height ${height}`, data),
});
receiver.listen(Number(process.env.PORT ?? 0), "127.0.0.1");
await once(receiver, "listening");

try {
  const { data: webhook } = await client.webhooks.create({
    event: "transaction.applied",
    target: `http://127.0.0.1:${receiver.address().port}/`,
    conditions: [{ key: "amount", condition: "gte", value: "1" }],
  });
  secret = webhook.token;
  console.log(`Webhook ${webhook.id} of ${url} delivers transaction.applied here. Ctrl-C removes it.`);
  process.once("SIGINT", async () => {
    await client.webhooks.remove(webhook.id).catch((error) => console.error(error.message));
    process.exit();
  });
} catch (error) {
  console.error(`${url}: ${error.message}`);
  if (error.code === "API_UNREACHABLE") console.error("Start the chain first: npm run chain");
  if (error.code === "API_UNAUTHORIZED")
    console.error("Set UNIKNODE_TOKEN to the webhook token of that node.");
  process.exit(1);
}

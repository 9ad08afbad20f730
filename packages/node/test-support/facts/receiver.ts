/** Webhook receiver that waits for one delivery. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Delivered = { readonly event: string; readonly data: unknown };

export async function openWebhookReceiver() {
  const { promise: first, resolve } = Promise.withResolvers<Delivered>();
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    response.end();
    const body = JSON.parse(Buffer.concat(parts).toString()) as Delivered & { event: string };
    if (body.event !== "webhook.ping") resolve(body);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    first,
    async register(node: { readonly url: string; readonly webhookToken: string }, event: string) {
      const response = await fetch(`${node.url}/api/v2/webhooks`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: node.webhookToken },
        body: JSON.stringify({
          event,
          target: `http://127.0.0.1:${port}/`,
          conditions: [{ key: "url", condition: "ne", value: "" }],
        }),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    close: () => void server.close(),
  };
}

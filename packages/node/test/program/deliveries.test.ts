/** Deliveries of a running node verify with the published library of the specification, and with our own. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type Client, createClient, verifyDelivery } from "@uniknode/client";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

type Received = { readonly headers: IncomingHttpHeaders; readonly body: Buffer };

const folder = mkdtempSync(join(tmpdir(), "uniknode-deliveries-"));
const webhookToken = "deliveries-test";
const received: Received[] = [];
const receiver = createServer(async (request, response) => {
  received.push({ headers: request.headers, body: await buffer(request) });
  response.writeHead(204).end();
});

let node: Running;
let client: Client;

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  const options = ["--http-port", "0", "--block-time", "1", "--webhook-token", webhookToken];
  node = spawnUniknode(["dev", "--data", folder, ...options]);
  const url = await apiUrlOf(node);
  client = createClient({ url: url, webhookToken, timeoutMs: WAIT_MS });
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  // The process that inspects the database ends a moment after a killed node.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

/** Response of the node that contains a secret, returned once. */
type Shown = { readonly token: string; readonly secret: string };

const byLibrary = ({ secret }: Shown, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

const byUs = ({ token }: Shown, message: Received, scheme?: "authorization"): Promise<boolean> =>
  verifyDelivery(message, { secret: token, ...(scheme && { scheme }) }).then(
    () => true,
    () => false,
  );

/**
 * Receives a few deliveries of blocks, a ping and a delivery that is sent again; returns the verdicts of each
 * secret.
 */
async function judge(id: number, secrets: readonly Shown[]): Promise<{ token: number; proves: string }[]> {
  // One delivery may have been signed before; in strict order, the next one was not.
  const start = received.length + 2;
  await expect.poll(() => received.length).toBeGreaterThan(start);
  await client.webhooks.ping(id);
  await expect.poll(() => received.length).toBeGreaterThan(start + 6);
  const [last] = (await client.webhooks.deliveries(id, { state: "delivered" }).page({ limit: 1 })).data;
  await client.webhooks.retry(id, present(last).messageId);
  const isAgain = ({ headers }: Received) => headers["webhook-id"] === present(last).messageId;
  await expect.poll(() => received.filter(isAgain).length).toBe(2);

  const verdicts = received.slice(start).map(async (message) => {
    const proofs = secrets.map(async (shown) => {
      const isSigned = await byUs(shown, message);
      expect(byLibrary(shown, message)).toBe(isSigned);
      return [isSigned && "signature", (await byUs(shown, message, "authorization")) && "half"];
    });
    return (await Promise.all(proofs)).map((proof) => proof.filter(Boolean).join(" and "));
  });
  const all = await Promise.all(verdicts);
  return secrets.map((_, token) => ({ token, proves: [...new Set(all.map((one) => one[token]))].join() }));
}

test("Deliveries of a node can be verified before, during and after a rotation.", async () => {
  const { data: created } = await client.webhooks.create({
    events: ["*"],
    order: "strict",
    target: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`,
    conditions: [{ key: "id", condition: "ne", value: "" }],
  });
  const { id } = created;
  const first: Shown = created;
  expect(await judge(id, [first])).toEqual([{ token: 0, proves: "signature and half" }]);

  const second: Shown = (await client.webhooks.rotate(id, { overlapSeconds: 3_600 })).data;
  expect(await judge(id, [first, second])).toEqual([
    { token: 0, proves: "signature" },
    { token: 1, proves: "signature and half" },
  ]);

  const third: Shown = (await client.webhooks.rotate(id, { overlapSeconds: 0 })).data;
  expect(await judge(id, [first, second, third])).toEqual([
    { token: 0, proves: "" },
    { token: 1, proves: "" },
    { token: 2, proves: "signature and half" },
  ]);
});

/** A node that starts with an older copy of its data folder, and imports the same blocks, with the real program. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, EVERY_EVENT } from "@uniknode/client";
import { afterAll, expect, test } from "vitest";
import { apiUrlOf, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { startHeldReceiver } from "../../test-support/webhooks/held-receiver.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-older-copy-"));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TOKEN = "a-token-of-the-test";

/** Runs a dev chain until the work is done and all deliveries are sent. */
async function onDevChain(name: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const options = ["--accounts", "1", "--block-time", "1", "--http-port", "0", "--webhook-token", TOKEN];
  const node = spawnUniknode(["dev", "--data", at(name), ...options]);
  try {
    const client = createClient({ url: await apiUrlOf(node), webhookToken: TOKEN, timeoutMs: WAIT_MS });
    await work(client);
    await expect.poll(async () => (await client.webhooks.health()).data.queued).toBe(0);
  } finally {
    node.child.kill("SIGTERM");
    await node.ended;
  }
}

/** Forges blocks, as soon as the node has forged its first ones. */
const mine = (blocks: number) => async (client: Client) => {
  const isMined = () =>
    client.dev.mine({ blocks }).then(
      () => true,
      () => false,
    );
  await expect.poll(isMined).toBe(true);
};

test("An older copy that imports the same blocks sends equal bodies for equal ids, and a higher epoch.", async () => {
  const receiver = await startHeldReceiver();
  await onDevChain("dev", async (client) => {
    await mine(2)(client);
    await client.webhooks.create({
      events: ["block.*", "transaction.*", "wallet.*", "round.*"],
      conditions: [EVERY_EVENT],
      target: receiver.url,
    });
  });
  cpSync(at("dev"), at("copy"), { recursive: true });
  await onDevChain("dev", mine(12));
  const sent = receiver.calls.map((call) => ({ ...call, id: `${call.headers["webhook-id"]}` }));
  await runUniknode(["export", at("blocks"), "--data", at("dev"), "--dev-chain", at("dev")]);
  const imported = await runUniknode([
    "import",
    at("blocks"),
    "--data",
    at("copy"),
    "--dev-chain",
    at("dev"),
  ]);
  expect(imported).toMatchObject({ code: 0 });
  await onDevChain("copy", mine(1));
  await receiver.close();

  const bodies = new Map(sent.map(({ id, body }) => [id, body]));
  const again = receiver.calls
    .slice(sent.length)
    .filter(({ headers }) => bodies.has(`${headers["webhook-id"]}`));
  expect(again.length).toBeGreaterThan(20);
  expect(again.filter(({ headers, body }) => body !== bodies.get(`${headers["webhook-id"]}`))).toEqual([]);
  const epochOf = ({ headers }: (typeof again)[number]) => Number(headers["webhook-epoch"]);
  expect(Math.min(...again.map(epochOf))).toBeGreaterThan(Math.max(...sent.map(epochOf)));
});

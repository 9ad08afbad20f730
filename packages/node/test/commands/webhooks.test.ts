/** `uniknode webhooks` and the queries against a dev chain; the token comes from its data folder. */
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { runMain } from "../../test-support/process/main.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-webhooks-"));
const receiver = createServer((_request, response) => response.writeHead(204).end());
let node: Running;
let url: string;
let target: string;

/** Id of a webhook on the old node, from which it was imported before the start. */
const IMPORTED = "0b9d8bfe-6c0c-4a0e-9f5c-1d7f6a1e2c3d";

async function importWebhook(): Promise<void> {
  const file = join(folder, "webhooks.json");
  const conditions = [{ key: "id", condition: "ne", value: "" }];
  const webhook = { id: IMPORTED, event: "block.forged", target, enabled: true, conditions };
  writeFileSync(file, JSON.stringify({ webhooks: [{ ...webhook, token: "ab".repeat(32) }] }));
  expect(await runMain(["webhooks", "import", file, "--data", folder])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`1  ${IMPORTED}  block.forged`),
  });
}

beforeAll(async () => {
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  target = `http://127.0.0.1:${(receiver.address() as { port: number }).port}/`;
  await importWebhook();
  node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "3600"]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

async function webhooks(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runMain(["webhooks", ...args, "--url", url, "--data", folder]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("Every command accepts the id that an imported webhook had on the old node.", async () => {
  const id = IMPORTED;
  expect(await webhooks("show", id)).toMatch(/^id +1$/m);
  expect(await webhooks("update", id, "--event", "block.applied")).toMatch(/^events +block\.applied$/m);
  // Its event would still match beside the pattern.
  expect(await webhooks("update", id, "--event", "transaction.*")).toMatch(/^events +transaction\.\*$/m);
  expect(await webhooks("pause", id)).toMatch(/^state +paused$/m);
  expect(await webhooks("resume", id)).toMatch(/^state +active$/m);
  expect(await webhooks("rotate", id)).toMatch(/^secret +whsec_/m);
  expect(await webhooks("ping", id)).toMatch(/^state +delivered$/m);
  expect(await webhooks("deliveries", id)).toMatch(/ delivered +ping /);
  const [{ id: delivery }] = JSON.parse(await webhooks("deliveries", id, "--json")) as [{ id: number }];
  expect(await webhooks("deliveries", id, `${delivery}`)).toMatch(/^event +ping$/m);
  expect(await webhooks("retry", id, `${delivery}`)).toContain("is sent again");
  expect(await webhooks("retry", id, "--all-failed", "--since", "2h")).toContain("0 failed deliveries");
  expect(await webhooks("replay", id, "--from", "1")).toMatch(/^blocks +1 to /m);
  expect(await webhooks("replay", id)).toMatch(/^state /m);
  expect(await webhooks("delete", id)).toBe(`webhook ${id} is removed\n`);
  const gone = await runMain(["webhooks", "show", id, "--url", url, "--data", folder]);
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining("HTTP 404") });
});

test("A webhook is created, changed, used and removed from the command line.", async () => {
  expect(await webhooks("list")).toContain("no webhooks registered");
  const created = await webhooks("create", target, "--event", "block.*", "--condition", "height gte 1");
  expect(created).toMatch(/^secret +whsec_\S+$/m);
  expect(await webhooks("list")).toMatch(/^ID +STATE +EVENTS +TARGET\n2 +active +block\.\* +http:/);
  expect(await webhooks("ping", "2")).toMatch(/^state +delivered$/m);
  const deliveries = await webhooks("deliveries", "2");
  const [, delivery] = /^(\d+) +delivered +ping +1 +HTTP 204 /m.exec(deliveries) as unknown as [
    string,
    string,
  ];
  expect(JSON.parse(await webhooks("deliveries", "2", delivery, "--json"))).toMatchObject({
    id: Number(delivery),
    event: "ping",
  });
  expect(await webhooks("retry", "2", delivery)).toContain(`delivery ${delivery} is sent again`);
  expect(await webhooks("retry", "2", "--all-failed")).toContain("0 failed deliveries");
  expect(await webhooks("replay", "2", "--from", "1")).toMatch(/^blocks +1 to 3, /m);
  expect(await webhooks("replay", "2")).toMatch(/^state +(running|finished)$/m);
  expect(await webhooks("test", "--event", "block.applied", "--blocks", "2")).toMatch(/: 2 events would be/);
  expect(await webhooks("update", "2", "--event", "transaction.*", "--order", "strict")).toMatch(
    /^order +strict$/m,
  );
  expect(await webhooks("pause", "2")).toMatch(/^state +paused$/m);
  expect(await webhooks("resume", "2")).toMatch(/^state +active$/m);
  expect(await webhooks("rotate", "2", "--overlap", "60")).toMatch(/^secret +whsec_\S+$/m);
  expect(JSON.parse(await webhooks("show", "2", "--json"))).toMatchObject({ id: 2, target });
  expect(await webhooks("delete", "2")).toBe("webhook 2 is removed\n");
});

test("Changing a target, pausing and resuming lose no delivery; dropping the queue requires an option.", async () => {
  const created = await webhooks("create", "http://127.0.0.1:1/", "--event", "block.applied");
  const id = /^id +(\d+)$/m.exec(created)?.[1] as string;
  await webhooks("replay", id, "--from", "1");
  await expect.poll(() => webhooks("show", id)).toMatch(/^queued +3$/m);
  expect(await webhooks("pause", id)).toMatch(/^queued +3$/m);
  expect(await webhooks("update", id, "--target", target)).toMatch(/^queued +3$/m);
  await webhooks("resume", id);
  await expect.poll(() => webhooks("show", id)).not.toContain("queued");
  expect(await webhooks("deliveries", id, "--state", "delivered")).toMatch(/HTTP 204/);
  const ended = JSON.parse(await webhooks("deliveries", id, "--json")) as { id: number }[];
  expect(await webhooks("retry", id, ...ended.map(({ id }) => `${id}`))).toContain(
    "3 deliveries are sent again",
  );
  expect(await webhooks("retry", id, "--state", "all")).toMatch(/^\d deliver(?:ies are|y is) sent again/);
  expect(await webhooks("retry", id, "--state", "cancelled")).toContain("0 cancelled deliveries are");
  await webhooks("update", id, "--target", "http://127.0.0.1:1/");
  await webhooks("replay", id, "--from", "1");
  await expect.poll(() => webhooks("show", id)).toMatch(/^queued +3$/m);
  expect(await webhooks("update", id, "--drop-queue")).not.toContain("queued");
  expect(await webhooks("deliveries", id, "--state", "cancelled")).toMatch(/cancelled/);
  await webhooks("delete", id);
});

test("A ping that is not accepted ends with code 1 and the reason.", async () => {
  await webhooks("create", "http://127.0.0.1:1/", "--event", "block.applied");
  const { code, stderr } = await runMain(["webhooks", "ping", "4", "--url", url, "--data", folder]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/did not accept the ping \(ECONNREFUSED.*check that it is running/);
});

test("The command retry lists the times that --since accepts.", async () => {
  const { code, stderr } = await runMain(["webhooks", "retry", "1", "--all-failed", "--since", "yesterday"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/--since <TIME>' argument 'yesterday' is invalid\. A time is expected: 2026-01-31/);
});

test("A wrong token causes one hint.", async () => {
  const { code, stderr } = await runMain(["listen", "--url", url, "--token", "wrong"]);
  expect(code).toBe(1);
  expect(stderr.match(/"uniknode token"/g)).toHaveLength(1);
  expect(stderr).toMatch(/a different token \(HTTP 401\); give the token with --token\n$/);
});

test("A failed delivery has one name in the API, the commands and the metrics.", async () => {
  const headers = { authorization: (await runMain(["token", "--data", folder])).stdout.trim() };
  const [refused] = JSON.parse(await webhooks("list", "--json")) as [{ id: number }];
  const { data } = (await (
    await fetch(`${url}/api/webhooks/${refused.id}/deliveries?state=failed`, { headers })
  ).json()) as { data: { state: string }[] };
  expect(data).toMatchObject([{ state: "failed" }]);
  expect(await webhooks("deliveries", `${refused.id}`, "--state", "failed")).toMatch(/ failed +ping /);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/^uniknode_webhook_deliveries_total\{webhook="\d+",outcome="failed"\} \d+$/m);
  expect(metrics).not.toMatch(/"dead"/);
});

test("Queries print the node, a block, a wallet, a unik and a transaction, as text and as JSON.", async () => {
  async function shown(...args: string[]) {
    const outputs: string[] = [];
    for (const more of [[], ["--json"]]) {
      const { code, stdout, stderr } = await runMain([...args, "--url", url, ...more]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      outputs.push(stdout);
    }
    const [text = "", json = ""] = outputs;
    return { text, value: JSON.parse(json) as Record<string, unknown> };
  }
  const mnemonic = "test test test test test test test test test test test junk";
  const { address, publicKey, unikId } = deriveAccounts(mnemonic, DEV_ADDRESS_VERSION)("account 0");

  const status = await shown("status");
  expect(status.text).toMatch(/^height +\d+\nblock +[0-9a-f]+\nsynced +yes\npeers /);
  expect(status.value).toMatchObject({ synced: true, token: "devunik" });
  const second = await shown("block", "2");
  expect(second.text).toMatch(/^height +2\n/);
  expect((await shown("block", `${second.value.id}`)).value).toEqual(second.value);
  expect((await shown("block")).value).toMatchObject({ height: status.value.height });
  const wallet = await shown("wallet", "show", publicKey);
  expect(wallet.text).toContain(unikId);
  expect(wallet.value).toMatchObject({ address, publicKey });
  const unik = await shown("unik", unikId);
  expect(unik.text).toMatch(/^type +individual$/m);
  expect(unik.value).toMatchObject({ id: unikId, ownerId: address, properties: { type: "1" } });
  const list = (await (await fetch(`${url}/api/transactions?limit=1`)).json()) as { data: [{ id: string }] };
  const [{ id }] = list.data;
  const transaction = await shown("tx", "show", id);
  expect(transaction.text).toMatch(/^state +forged in block [0-9a-f]+, \d+ confirmations$/m);
  expect(transaction.value).toMatchObject({ id });
});

test("The state of a node includes the versions of program and protocol.", async () => {
  const status = await (await fetch(`${url}/health/status`)).json();
  expect(status).toMatchObject({ protocol: "5.7.2", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
});

/** Encrypted secrets of webhooks of a running node. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createClient, verifyDelivery } from "@uniknode/client";
import Driver from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

test("Secrets are encrypted on disk and usable after a crash; without the key the node does not start.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-sealing-"));
  const data = join(folder, "data");
  const [keyFile, otherFile] = [join(folder, "webhooks.key"), join(folder, "other.key")];
  for (const path of [keyFile, otherFile]) writeFileSync(path, `${crypto.randomUUID()}\n`);
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) });
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  let node: Running | undefined;
  onTestFinished(async () => {
    node?.child.kill("SIGKILL");
    await node?.ended;
    receiver.closeAllConnections();
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const args = ["dev", "--data", data, "--http-port", "0", "--block-time", "1"];
  const withKey = [...args, "--webhook-key-file", keyFile];

  async function start() {
    node = spawnUniknode(withKey);
    const url = await apiUrlOf(node);
    const [, webhookToken] = await node.printed(/Webhook token\s+(\S+)/);
    return {
      webhooks: createClient({ url: url, webhookToken: present(webhookToken), timeoutMs: WAIT_MS }).webhooks,
      webhookToken,
    };
  }
  const filesHold = (text: string) =>
    ["node.sqlite", "node.sqlite-wal"]
      .map((name) => join(data, name))
      .filter(existsSync)
      .some((path) => readFileSync(path, "latin1").includes(text));
  const kill = async () => {
    present(node).child.kill("SIGKILL");
    await present(node).ended;
  };

  const { webhooks, webhookToken } = await start();
  const { token } = (await webhooks.create({ event: "block.applied", target, conditions: [ANY] })).data;
  const hasArrived = () => expect.poll(() => received.length).toBeGreaterThan(0);
  await hasArrived();
  await kill();
  expect(filesHold(target)).toBe(true);
  expect([token, present(webhookToken)].filter((secret) => filesHold(secret.slice(0, 16)))).toEqual([]);

  received.length = 0;
  expect((await start()).webhookToken).toBe(webhookToken);
  await hasArrived();
  await expect(verifyDelivery(present(received[0]), { secret: token })).resolves.toMatchObject({
    webhookId: 1,
  });
  await kill();

  const without = await runUniknode(args);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain("are encrypted; name the file of their key with --webhook-key-file");
  const withOther = await runUniknode([...args, "--webhook-key-file", otherFile]);
  expect(withOther.code).toBe(2);
  expect(withOther.stderr).toContain("are encrypted with another key");
  const driver = new Driver(join(data, "node.sqlite"));
  driver.exec("UPDATE webhooks SET token = substr(token, 1, length(token) - 4) || 'AAAA'");
  driver.close();
  const tampered = await runUniknode(withKey);
  expect(tampered.code).toBe(1);
  expect(tampered.stderr).toContain("the secret of webhook 1 was changed outside of the node");
});

const ANY = { key: "id", condition: "ne", value: "" } as const;

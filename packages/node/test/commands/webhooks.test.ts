/** `uniknode webhooks` against a dev chain; the token comes from its data folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runMain } from "../../test-support/process/main.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-webhooks-"));
const receiver = createServer((_request, response) => response.writeHead(204).end());
let node: Running;
let url: string;
let target: string;

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "3600"]);
  [, url] = (await node.printed(/API\s+(http:\S+?)\/api/)) as unknown as [string, string];
  await node.printed(/Ctrl-C stops/);
  target = `http://127.0.0.1:${(receiver.address() as { port: number }).port}/`;
}, 60_000);

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

test("a webhook lives its whole life from the command line", async () => {
  expect(await webhooks("list")).toContain("no webhook is registered");
  const created = await webhooks("create", target, "--event", "block.*", "--condition", "height gte 1");
  expect(created).toMatch(/^secret +whsec_\S+$/m);
  expect(await webhooks("list")).toMatch(/^ID +STATE +EVENTS +TARGET\n1 +active +block\.\* +http:/);
  expect(await webhooks("ping", "1")).toMatch(/^state +delivered$/m);
  expect(await webhooks("deliveries", "1")).toMatch(/^1 +delivered +ping +1 +HTTP 204 /m);
  expect(JSON.parse(await webhooks("deliveries", "1", "1", "--json"))).toMatchObject({
    id: 1,
    event: "ping",
  });
  expect(await webhooks("retry", "1", "1")).toContain("delivery 1 is sent again");
  expect(await webhooks("retry", "1", "--all-failed")).toContain("0 failed deliveries");
  expect(await webhooks("replay", "1", "--from", "1")).toMatch(/^blocks +1 to 3, /m);
  expect(await webhooks("replay", "1")).toMatch(/^state +(running|finished)$/m);
  expect(await webhooks("test", "--event", "block.applied", "--blocks", "2")).toMatch(/: 2 events would be/);
  expect(await webhooks("update", "1", "--event", "transaction.*", "--order", "strict")).toMatch(
    /^order +strict$/m,
  );
  expect(await webhooks("pause", "1")).toMatch(/^state +paused$/m);
  expect(await webhooks("resume", "1")).toMatch(/^state +active$/m);
  expect(await webhooks("rotate", "1", "--overlap", "60")).toMatch(/^secret +whsec_\S+$/m);
  expect(JSON.parse(await webhooks("show", "1", "--json"))).toMatchObject({ id: 1, target });
  expect(await webhooks("delete", "1")).toBe("webhook 1 is removed\n");
});

test("a ping that is not accepted ends with code 1 and the reason", async () => {
  await webhooks("create", "http://127.0.0.1:1/", "--event", "block.applied");
  const { code, stderr } = await runMain(["webhooks", "ping", "2", "--url", url, "--data", folder]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/did not accept the ping \(ECONNREFUSED.*check that it runs/);
});

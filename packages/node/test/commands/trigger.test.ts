/** `uniknode trigger` on a dev chain. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CAUSES } from "../../src/commands/trigger/causes.ts";
import { EVENTS } from "../../src/events/catalogue.ts";
import { present } from "../../src/platform/present.ts";
import { runMain } from "../../test-support/process/main.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-trigger-"));
let node: Running;
let url: string;

beforeAll(async () => {
  node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "1"]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

test("Every event of the catalogue is caused, or has a reason why it cannot be.", () => {
  expect(Object.keys(CAUSES).sort()).toEqual(Object.keys(EVENTS).sort());
});

const possible = Object.keys(CAUSES).filter((event) => "cause" in present(CAUSES[event]));
test.each(possible)("%s happens and is delivered", async (event) => {
  const { code, stdout, stderr } = await runMain([
    "trigger",
    event,
    "--url",
    url,
    "--data",
    folder,
    "--json",
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ event });
});

/** Starts a proxy of the node that never passes requests for blocks on, and reports the first one. */
async function startProxy(): Promise<{ url: string; held: Promise<void> }> {
  const held = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    const { method, headers, url: path = "" } = request;
    if (path.endsWith("/mine")) return held.resolve();
    request.pipe(
      send(`${url}${path}`, { method, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, held: held.promise };
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "A trigger that %s ends leaves no webhook.",
  async (signal) => {
    const proxy = await startProxy();
    const trigger = spawnUniknode(["trigger", "block.applied", "--url", proxy.url, "--data", folder]);
    await proxy.held;
    const { stdout: token } = await runMain(["token", "--data", folder]);
    const { webhooks } = createClient({ url, webhookToken: token.trim() });
    const count = async () => (await webhooks.list().page()).data.length;
    expect(await count()).toBe(1);
    trigger.child.kill(signal);
    expect(await trigger.ended).toMatchObject({ code: 1, stderr: expect.stringContaining(signal) });
    expect(await count()).toBe(0);
  },
);

/** A node with a target that accepts connections and stays silent. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVERY_EVENT } from "@uniknode/client";
import { expect, onTestFinished, test } from "vitest";
import { spawnUniknode } from "../../../test-support/process/uniknode.ts";

const TOKEN = "silent";

async function listen(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("A silent NATS server delays neither other webhooks nor the end of the node.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-silent-"));
  const sockets: Socket[] = [];
  const silent = await listen(createServer((socket) => sockets.push(socket.resume().on("error", () => {}))));
  let received = 0;
  const receiver = await listen(
    createHttpServer((request, response) => {
      request.resume();
      received++;
      response.end();
    }),
  );
  const node = spawnUniknode([
    ...["dev", "--data", join(folder, "data"), "--http-port", "0", "--block-time", "1"],
    ...["--webhook-token", TOKEN, "--rate-limit", "0", "--webhook-timeout", "60"],
  ]);
  onTestFinished(async () => {
    node.child.kill("SIGKILL");
    await node.ended;
    for (const socket of sockets) socket.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  const [, url] = await node.printed(/API\s+(http:\S+?)\/api/);
  for (const target of [`nats://127.0.0.1:${silent}/chain`, `http://127.0.0.1:${receiver}/`]) {
    const response = await fetch(`${url}/api/v2/webhooks`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: TOKEN },
      body: JSON.stringify({ event: "block.applied", target, conditions: [EVERY_EVENT] }),
    });
    expect(response.status).toBe(201);
  }
  await expect.poll(() => sockets.length).toBeGreaterThan(0);
  await expect.poll(() => received).toBeGreaterThan(3);
  // All calls share the connection.
  expect(sockets).toHaveLength(1);
  node.child.kill("SIGTERM");
  const { code, stderr } = await node.ended;
  expect([code, stderr]).toEqual([0, ""]);
});

/** `uniknode console` with responses that are not those of a node. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { runMain } from "../../test-support/process/main.ts";

async function serve(status: number, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ["no JSON", 200, "<html>", "give the base URL of a node with --url"],
  ["no link", 200, '{"data": {}}', "give the base URL of a node with --url"],
  ["another path", 200, '{"data": {"path": "x", "expiresAt": 1}}', "give the base URL of a node with --url"],
  ["a long text", 200, `{"data": "${"x".repeat(100_000)}"}`, "give the base URL of a node with --url"],
  ["a refusal", 404, "", "start it with --console on"],
])("A response with %s is an error with the next step.", async (_what, status, body, message) => {
  const url = await serve(status, body);
  const { code, stdout, stderr } = await runMain(["console", "--url", url, "--token", "a-token"]);
  expect(stderr).toContain(message);
  expect([code === 0, stdout]).toEqual([false, ""]);
});

test("A valid response prints the link.", async () => {
  const url = await serve(201, '{"data": {"path": "/console/#code=a", "expiresAt": 1}}');
  const { code, stdout } = await runMain(["console", "--url", url, "--token", "a-token"]);
  expect([code, stdout.trim()]).toEqual([0, `${url}/console/#code=a`]);
});

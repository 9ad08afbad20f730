/**
 * Commands against a node whose every text tries to deceive a terminal: long, with controls, bidirectional
 * and invisible characters.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { runMain } from "../../test-support/process/main.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-hostile-"));
const TOKEN = "a-token-of-the-test";
const DECEIT = "\u001B[2J\u009B31m\u0007\r\u202Eok\u2066\u200B\u2028\n\uFEFF\u{E0041}";
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const MAX_LINE = 16_000;

let node: Running;
let real: string;
let status = 200;
let proxy: ReturnType<typeof createServer>;
let url: string;

/** Appends the deceptive text to every string and every name. */
function deceived(value: unknown): unknown {
  if (typeof value === "string")
    return /^\d+$/.test(value) ? value : `${value}${DECEIT}${"x".repeat(20_000)}`;
  if (Array.isArray(value)) return value.map(deceived);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => [
      [name, deceived(member)],
      [`${name}${DECEIT}`, deceived(member)],
    ]),
  );
}

beforeAll(async () => {
  const args = ["--accounts", "2", "--block-time", "1", "--http-port", "0", "--webhook-token", TOKEN];
  node = spawnUniknode(["dev", "--data", join(folder, "dev"), ...args]);
  real = await apiUrlOf(node);
  await node.printed(/^block 4 /m);
  proxy = createServer(async ({ url, method, headers }, response) => {
    const authorization = headers.authorization ?? "";
    const original = await fetch(`${real}${url}`, { method: present(method), headers: { authorization } });
    response.writeHead(status === 200 ? original.status : status, { "content-type": "application/json" });
    response.end(JSON.stringify(deceived(await original.json())));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const webhook = { event: "block.*", target: "http://127.0.0.1:1/", conditions: [] };
  await fetch(`${real}/api/webhooks`, {
    method: "POST",
    headers: { authorization: TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ ...webhook, conditions: [{ key: "id", condition: "truthy", value: "" }] }),
  });
});

afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  node.child.kill("SIGTERM");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

const firstOf = async (list: string): Promise<Record<string, string>> =>
  present(
    ((await (await fetch(`${real}/api/${list}?limit=1`)).json()) as { data: Record<string, string>[] })
      .data[0],
  );

const COMMANDS: [string, () => string[] | Promise<string[]>][] = [
  ["status", () => ["status"]],
  ["block", () => ["block"]],
  ["unik", async () => ["unik", present((await firstOf("uniks")).id)]],
  ["wallet show", async () => ["wallet", "show", present((await firstOf("wallets")).address)]],
  ["tx show", async () => ["tx", "show", present((await firstOf("transactions")).id)]],
  ["webhooks list", () => ["webhooks", "list", "--token", TOKEN]],
  ["webhooks show", () => ["webhooks", "show", "1", "--token", TOKEN]],
  ["webhooks deliveries", () => ["webhooks", "deliveries", "1", "--token", TOKEN]],
  ["webhooks ping", () => ["webhooks", "ping", "1", "--token", TOKEN]],
  ["webhooks delete", () => ["webhooks", "delete", "7", "--token", TOKEN]],
];

for (const returned of [200, 409, 500]) {
  test.each(COMMANDS)(
    `"%s" shows a response of status ${returned} safely, as text and as JSON`,
    async (_, args) => {
      status = returned;
      for (const form of [[], ["--json"]]) {
        const { stdout, stderr } = await runMain([...(await args()), "--url", url, ...form]);
        expect(`${stdout}${stderr}`).not.toBe("");
        for (const line of `${stdout}${stderr}`.split("\n")) {
          expect(line).not.toMatch(UNSAFE);
          // JSON contains the complete value, for programs.
          if (form.length === 0) expect(line.length).toBeLessThan(MAX_LINE);
        }
        if (stdout !== "" && form.length > 0) JSON.parse(stdout);
      }
    },
  );
}

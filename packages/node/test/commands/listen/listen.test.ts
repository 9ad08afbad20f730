/** `uniknode listen` against a dev chain, both as real programs. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { createClient, type VerifiedDelivery, verifyDelivery } from "@uniknode/client";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { deriveAccounts } from "../../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../../src/dev-chain/network.ts";
import { present } from "../../../src/platform/present.ts";
import { skips } from "../../../test-support/process/available.ts";
import { connect, transferOf } from "../../../test-support/process/client.ts";
import { missingTerminal, spawnAtTerminal } from "../../../test-support/process/terminal.ts";
import {
  apiUrlOf,
  type Running,
  runUniknode,
  spawnUniknode,
} from "../../../test-support/process/uniknode.ts";
import { until, WAIT_MS } from "../../../test-support/process/until.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const TOKEN = "listen-test";
const folders: string[] = [];
const running: Running[] = [];
let url: string;

/** Dev chain that forges nothing by itself while a test runs. */
async function startNode(): Promise<{ node: Running; url: string }> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-listen-"));
  folders.push(folder);
  const node = spawnUniknode(
    ["dev", "--data", folder, "--http-port", "0", "--block-time", "3600"].concat("--webhook-token", TOKEN),
  );
  const base = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  return { node, url: base };
}

let node: Running;
beforeAll(async () => {
  ({ node, url } = await startNode());
});

afterEach(async () => {
  for (const listener of running.splice(0)) {
    listener.child.kill("SIGKILL");
    await listener.ended;
  }
  for (const { id } of await registered()) await client().webhooks.remove(id);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test("The listener forwards events to an application, signed with the same secret in each run, and names its responses.", async () => {
  const secrets: string[] = [];
  for (const status of [204, 500]) {
    const received = Promise.withResolvers<VerifiedDelivery>();
    const server = createServer(async (request, response) => {
      const secret = present(secrets.at(-1));
      received.resolve(verifyDelivery({ headers: request.headers, body: await buffer(request) }, { secret }));
      response.writeHead(status).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
    const args = ["--url", url, "--token", TOKEN, "--event", "block.applied", "--forward-to", target];
    const listener = spawnUniknode(["listen", ...args]);
    running.push(listener);
    const [, secret] = await listener.printed(/signed with (whsec_\S+)/);
    secrets.push(present(secret));
    expect(await registered()).toEqual([]);
    // The stream is open as soon as an event arrives.
    const delivery = await until("a delivery", async () => {
      await mine();
      return Promise.race([received.promise, sleep(300, undefined)]);
    });
    expect(delivery).toMatchObject({ event: "block.applied", data: { height: delivery.height } });
    await listener.printed(new RegExp(`${status}  block.applied  height \\d+`));
    listener.child.kill("SIGINT");
    expect(await listener.ended).toMatchObject({ code: 0, stderr: "" });
  }
  expect(secrets[0]).toBe(secrets[1]);
});

/** A registered listener. */
async function listen(...args: string[]) {
  const listener = spawnUniknode(["listen", "--url", url, "--token", TOKEN, ...args]);
  running.push(listener);
  const text = args.includes("--json") ? printedOnStderr(listener, /Webhook/) : listener.printed(/Webhook/);
  await text;
  const said = `${listener.stdout()}${listener.stderr()}`;
  const [, id, target] = present(/Webhook (\d+) of .* to (http:\S+)/.exec(said));
  return { ...listener, id: Number(id), target: present(target) };
}

async function printedOnStderr({ stderr }: Running, pattern: RegExp): Promise<void> {
  await expect.poll(stderr).toMatch(pattern);
}

async function mine(): Promise<void> {
  const headers = { authorization: TOKEN };
  expect((await fetch(`${url}/api/dev/mine`, { method: "POST", headers })).status).toBe(200);
}

async function interrupted(listener: Running, signal: NodeJS.Signals = "SIGINT") {
  listener.child.kill(signal);
  return listener.ended;
}

const client = () => createClient({ url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
const registered = async () => (await client().webhooks.list().page()).data;

describe("a listener", () => {
  test("A listener registers itself, prints and verifies deliveries, and removes itself at the end.", async () => {
    const listener = await listen("--event", "block.applied");
    expect(await registered()).toMatchObject([{ id: listener.id, events: ["block.applied"] }]);
    await mine();
    const [line] = await listener.printed(/^\d\d:\d\d:\d\d {2}204 {2}block\.applied.*$/m);
    expect(line).toMatch(/ {2}204 {2}block\.applied {2}#1 {2}height \d+ {2}verified {2}id [0-9a-f]{12} {2}/);
    const { code, stdout, stderr } = await interrupted(listener);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Removed webhook ${listener.id}.`);
    expect(await registered()).toEqual([]);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("A listener removes itself on %s as well.", async (signal) => {
    const listener = await listen();
    expect((await interrupted(listener, signal)).code).toBe(0);
    expect(await registered()).toEqual([]);
  });

  test("A listener receives only events that match the patterns and conditions.", async () => {
    const listener = await listen(
      ...["--event", "transaction.*", "--event", "block.forged", "--match", "all"],
      ...["--condition", "amount eq 1", "--condition", "vendorField falsy", "--json"],
    );
    expect(await registered()).toMatchObject([
      {
        events: ["transaction.*", "block.forged"],
        match: "all",
        conditions: [
          { key: "amount", condition: "eq", value: "1" },
          { key: "vendorField", condition: "falsy" },
        ],
      },
    ]);
    expect((await interrupted(listener)).code).toBe(0);
    const matching = await listen("--event", "transaction.applied", "--condition", "amount eq 1", "--json");
    const { network, submit } = await connect(url);
    const transfer = transferOf(network, people("account 3"), people("account 4").address, 1n);
    expect((await submit([transfer])).accepted).toEqual([transfer.id]);
    await mine();
    await matching.printed(/\n/);
    const printed: unknown = JSON.parse(matching.stdout());
    expect(printed).toMatchObject({
      verified: true,
      attempt: 1,
      status: 204,
      delivery: { event: "transaction.applied", data: { id: transfer.id, amount: "1" } },
    });
    const { stdout } = await interrupted(matching);
    expect(stdout.trim().split("\n")).toHaveLength(1);
  });

  test("A listener counts the attempts of a delivery that is sent again.", async () => {
    const listener = await listen("--event", "block.applied");
    await mine();
    await listener.printed(/ {2}204 {2}block\.applied {2}#1 {2}height \d+ {2}verified {2}id /);
    const delivery = async () => (await client().webhooks.deliveries(listener.id).page()).data[0];
    await expect.poll(delivery).toMatchObject({ state: "delivered" });
    await client().webhooks.retry(listener.id, present(await delivery()).id);
    await listener.printed(/ {2}204 {2}block\.applied {2}#1 {2}height \d+ {2}attempt 2 {2}verified {2}/);
    expect((await interrupted(listener)).code).toBe(0);
  });

  test.skipIf(skips(missingTerminal())).each([
    ["with colours at a terminal", {}, true],
    ["without them if NO_COLOR is set", { NO_COLOR: "1" }, false],
  ])("prints each delivery on one line of the terminal, %s", async (_name, environment, hasColors) => {
    const args = ["listen", "--url", url, "--token", TOKEN, "--event", "block.applied"];
    const terminal = spawnAtTerminal(args, { columns: 60, rows: 20, environment });
    try {
      await expect.poll(terminal.output).toContain("Ctrl-C stops the receiver");
      await mine();
      // The addresses above may contain the number, too.
      const isDelivery = (text: string) => /\b204\b.*block\.applied/.test(stripVTControlCharacters(text));
      await expect.poll(() => terminal.output().split("\n").slice(0, -1).some(isDelivery)).toBe(true);
      const line = present(terminal.output().split(/\r?\n/).find(isDelivery));
      expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(60);
      expect(line.includes("\u001b[32m204\u001b[0m")).toBe(hasColors);
      expect(line.includes("\u001b")).toBe(hasColors);
      terminal.type("\u0003");
      expect(await terminal.ended).toBe(0);
    } finally {
      terminal.kill();
    }
  });

  test("A listener refuses requests that are not from the node.", async () => {
    const listener = await listen("--event", "block.forged");
    const forged = await fetch(listener.target, {
      method: "POST",
      headers: { authorization: "0".repeat(32), "webhook-id": "msg_1" },
      body: "{}",
    });
    expect(forged.status).toBe(401);
    await listener.printed(/NOT VERIFIED, responded 401: .*\(DELIVERY_AUTHORIZATION_WRONG\)/);
    const huge = await fetch(listener.target, { method: "POST", body: "x".repeat(17 * 1_048_576) }).then(
      ({ status }) => status,
      () => "cut",
    );
    expect([413, "cut"]).toContain(huge);
  });
});

describe("errors are reported", () => {
  test("The command ends with an error if the webhook was removed by another client.", async () => {
    const listener = await listen();
    await client().webhooks.remove(listener.id);
    expect((await interrupted(listener)).code).toBe(0);
  });

  test("The command prints how to remove the webhook later if the node is gone at the end.", async () => {
    const other = await startNode();
    const listener = spawnUniknode(["listen", "--url", other.url, "--token", TOKEN]);
    running.push(listener);
    await listener.printed(/Webhook 1 /);
    other.node.child.kill("SIGKILL");
    await other.node.ended;
    const { code, stderr } = await interrupted(listener);
    expect(code).toBe(1);
    expect(stderr).toContain("webhook 1 could not be removed");
    expect(stderr).toContain(`uniknode webhooks delete 1 --url ${other.url}`);
  });

  test.each<[string, () => string[], number, string]>([
    [
      "a wrong token",
      () => ["--url", url, "--token", "wrong"],
      1,
      "does not contain the webhook token of this node",
    ],
    ["no server", () => ["--url", "http://127.0.0.1:1", "--token", TOKEN], 1, "no response"],
    ["no token", () => ["--url", url, "--data", "/nowhere"], 2, "/nowhere is not the data folder of a node"],
    [
      "no URL",
      () => ["--url", "node", "--token", TOKEN],
      2,
      "a base URL such as http://127.0.0.1:4003 is expected",
    ],
    ["an unknown event", () => ["--url", url, "--token", TOKEN, "--event", "x"], 1, '"events" at position 0'],
    [
      "no condition",
      () => ["--token", TOKEN, "--condition", "amount"],
      2,
      '"key operator value" is expected',
    ],
    ["an unknown operator", () => ["--token", TOKEN, "--condition", "a is b"], 2, '"is" is not an operator'],
    ["no value", () => ["--url", url, "--token", TOKEN, "--condition", "a eq"], 1, '"value" is required'],
  ])("%s", async (_, args, code, message) => {
    const ended = await runUniknode(["listen", ...args()]);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(await registered()).toEqual([]);
  });

  test("A closed output pipe ends the command.", async () => {
    const listener = await listen("--event", "block.applied");
    present(listener.child.stdout).destroy();
    await mine();
    expect((await listener.ended).code).toBe(0);
    expect(await registered()).toEqual([]);
  });
});

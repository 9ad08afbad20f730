/** The README's walkthrough, with the real program and the examples that it names. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { connect } from "../../test-support/process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [alice, bob] = [people("account 0"), people("account 1")];
const folder = mkdtempSync(join(tmpdir(), "uniknode-walk-"));
let node: Running;
let url: string;
let token: string;

beforeAll(async () => {
  node = spawnUniknode(["dev", "--data", folder, "--http-port", "0", "--block-time", "1"]);
  url = await apiUrlOf(node);
  [, token] = (await node.printed(/Webhook token\s+(\S+)/)) as unknown as [string, string];
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

function example(name: string, args: string[], typed = ""): ChildProcess {
  const path = fileURLToPath(new URL(`../../../../examples/${name}.mjs`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  present(child.stdin).end(typed);
  return child;
}

/** Settles with the first match in the output of the example. */
function printed(child: ChildProcess, pattern: RegExp): Promise<RegExpMatchArray> {
  let text = "";
  return new Promise((resolve, reject) => {
    present(child.stdout)
      .setEncoding("utf8")
      .on("data", (chunk: string) => {
        text += chunk;
        const match = text.match(pattern);
        if (match) resolve(match);
      });
    child.on("close", () => reject(new Error(`the example ended with: ${text}`)));
  });
}

test("The screen shows the first accounts, and the next command.", async () => {
  await node.printed(/Ctrl-C stops/);
  const screen = node.stdout();
  for (const name of ["account 0", "account 1", "account 2"]) {
    expect(screen).toContain(people(name).passphrase);
    expect(screen).toContain(people(name).address);
  }
  expect(screen).not.toContain(people("account 3").passphrase);
  expect(screen).toContain(`uniknode listen --data ${folder} --event 'block.*' --url ${url}`);
});

test("Every address of the README's walkthrough responds.", async () => {
  const { get } = await connect(url);
  expect(await get("/api/v2/blockchain")).toMatchObject({ block: { height: expect.any(Number) } });
  expect(await get("/api/v2/node/status")).toMatchObject({ synced: true });
  expect(await get("/api/v2/nfts/status")).toEqual([
    { nftName: "UNIK", individual: "4", organization: "4", network: "2" },
  ]);
  expect(await get("/api/v2/uniks")).toHaveLength(10);
  const { unikId, address } = alice;
  expect(await get(`/api/v2/uniks/${unikId}`)).toMatchObject({ id: unikId, ownerId: address });
  expect(await get(`/api/v2/uniks/${unikId}/properties`)).toContainEqual({ type: "1" });
  expect(await get(`/api/v2/uniks/${unikId}/properties/type`)).toBe("1");
  expect(await get(`/api/v2/wallets/${address}`)).toMatchObject({ address, isDelegate: false });
  expect(await get(`/api/v2/wallets/${address}/uniks`)).toHaveLength(1);
  const [{ id }] = (await get("/api/v2/transactions")) as [{ id: string }];
  expect(await get(`/api/v2/transactions/${id}`)).toMatchObject({ id });
  expect(await get("/api/delegates")).toHaveLength(12);
});

test("A transfer is sent, forged, and delivered to a receiver that verifies it.", async () => {
  const receiverPort = `${await freePort()}`;
  const response = await fetch(`${url}/api/v2/webhooks`, {
    method: "POST",
    headers: { authorization: token, "content-type": "application/json" },
    body: JSON.stringify({
      event: "transaction.applied",
      target: `http://127.0.0.1:${receiverPort}/hook`,
      conditions: [{ key: "amount", condition: "gte", value: "100000000" }],
    }),
  });
  expect(response.status).toBe(201);
  const { data: webhook } = (await response.json()) as { data: { token: string } };
  const receiver = example("receiver", [receiverPort, webhook.token]);
  const ended = once(receiver, "exit");
  try {
    await printed(receiver, /listening/);
    const delivery = printed(receiver, /verified .*: transaction\.applied at height \d+ (.*)/);
    const transfer = example("transfer", [bob.address, "12.5", url], `${alice.passphrase}\n`);
    const [, id] = await printed(transfer, /^([0-9a-f]{64})\n[\s\S]*"accept": \[\n\s+"\1"/);
    const [, data] = await delivery;
    expect(JSON.parse(present(data))).toMatchObject({ id, amount: "1250000000", recipientId: bob.address });
  } finally {
    receiver.kill();
    await ended;
  }
});

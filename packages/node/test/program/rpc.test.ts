/** The companion for exchanges, as a process beside a running chain. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient } from "@uniknode/client";
import { addressFromPublicKey, presets } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [alice, bob, delegate] = [people("account 0"), people("account 1"), people("delegate 0")];
const folder = mkdtempSync(join(tmpdir(), "uniknode-rpc-"));
const data = join(folder, "json-rpc.sqlite");
const MEDIA_TYPE = "application/vnd.api+json";
const LIVENET = present(presets.livenet).network.pubKeyHash;

let node: Running;
let companion: Running;
let nodeUrl: string;
let url: string;

beforeAll(async () => {
  node = spawnUniknode(["dev", "--data", join(folder, "chain"), "--http-port", "0", "--instant"]);
  nodeUrl = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
  await startCompanion();
});

afterAll(async () => {
  for (const running of [companion, node]) {
    running.child.kill("SIGKILL");
    await running.ended;
  }
  gate.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Forwards the requests of the companion to the node; while `arrivals` is set, when that many have arrived. */
const gate = createServer(async (request, response) => {
  await arrivals?.one();
  const { method = "GET", url: path = "/" } = request;
  const init = method === "GET" ? {} : { headers: JSON_BODY, body: await text(request) };
  const forwarded = await fetch(new URL(path, nodeUrl), { method, ...init });
  response.writeHead(forwarded.status, JSON_BODY).end(await forwarded.text());
});
const JSON_BODY = { "content-type": "application/json" };
let arrivals: { one(): Promise<void> } | undefined;

function arrivalsOf(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return {
    one() {
      arrived++;
      if (arrived === count) resolve();
      return promise;
    },
  };
}

async function startCompanion(): Promise<void> {
  const gateUrl = `http://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  companion = spawnUniknode(["rpc", "--url", gateUrl, "--rpc-port", "0", "--rpc-data", data]);
  [, url] = (await companion.printed(/^(http:\S+)$/m)) as unknown as [string, string];
}

type CallResponse = {
  jsonrpc: string;
  id: unknown;
  result: unknown;
  error?: { code: number; message: string; data?: string };
};

async function post(body: string, headers: Record<string, string> = { "content-type": MEDIA_TYPE }) {
  const response = await fetch(url, { method: "POST", headers, body: new TextEncoder().encode(body) });
  const type = response.headers.get("content-type");
  return { status: response.status, type, body: (await response.json()) as unknown };
}

async function call(method: string, params: object = {}): Promise<CallResponse> {
  const { status, type, body } = await post(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }));
  expect([status, type]).toEqual([200, `${MEDIA_TYPE}; charset=utf-8`]);
  expect(body).toMatchObject({ jsonrpc: "2.0", id: 7 });
  return body as CallResponse;
}

async function resultOf(method: string, params: object = {}): Promise<Record<string, unknown>> {
  const { result, error } = await call(method, params);
  expect(error).toBeUndefined();
  return result as Record<string, unknown>;
}

/** Sends a created transaction, and waits for its block. */
async function forge(made: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { id } = made;
  expect(await resultOf("transactions.broadcast", { id })).toEqual(made);
  await expect.poll(async () => (await call("transactions.info", { id })).error).toBeUndefined();
  return resultOf("transactions.info", { id });
}

describe("chain data", () => {
  test("The companion returns blocks by height and by id, the latest one, and their transactions.", async () => {
    const client = createClient({ url: nodeUrl, timeoutMs: WAIT_MS });
    const { data: block } = await client.blocks.get(2);
    expect(await resultOf("blocks.info", { id: "2" })).toEqual(block);
    expect(await resultOf("blocks.info", { id: block.id })).toEqual(block);
    expect(await resultOf("blocks.latest")).toMatchObject({ confirmations: 0 });
    const { count, data } = await resultOf("blocks.transactions", { id: "1" });
    expect(count).toBe((data as unknown[]).length);
    expect(count).toBeGreaterThan(1);
    const rest = await resultOf("blocks.transactions", { id: "1", offset: 1 });
    expect(rest).toEqual({ count, data: (data as unknown[]).slice(1) });
  });

  test("The companion returns wallets and their transactions.", async () => {
    const { address, publicKey } = alice;
    expect(await resultOf("wallets.info", { address })).toMatchObject({ address, publicKey });
    const { count, data } = await resultOf("wallets.transactions", { address });
    expect(count).toBeGreaterThan(0);
    expect((data as unknown[]).length).toBe(count);
  });

  test("Unknown objects return 404.", async () => {
    const nowhere = people("unused account").address;
    const unknown = "ab".repeat(32);
    for (const [method, params] of [
      ["blocks.info", { id: unknown }],
      ["transactions.info", { id: unknown }],
      ["transactions.broadcast", { id: unknown }],
      ["wallets.info", { address: nowhere }],
      ["wallets.transactions", { address: nowhere }],
      ["wallets.bip38.info", { bip38: "password", userId: "00" }],
    ] as const) {
      expect([method, (await call(method, params)).error]).toMatchObject([
        method,
        { code: 404, message: "Not Found" },
      ]);
    }
  });
});

describe("transactions", () => {
  test("A transfer is created, stored, and sent on request.", async () => {
    const payment = { amount: 150_000_000, recipientId: bob.address, passphrase: alice.passphrase };
    const made = await resultOf("transactions.transfer.create", {
      ...payment,
      vendorField: "order 1",
      fee: "20000000",
    });
    expect(made).toMatchObject({ amount: "150000000", fee: "20000000", vendorField: "order 1" });
    const forged = await forge(made);
    expect(forged).toMatchObject({ amount: 150_000_000, fee: 20_000_000 });
    const { height } = await resultOf("blocks.info", { id: forged.blockId });
    const again = await resultOf("transactions.broadcast", { id: made.id });
    expect(again).toEqual({ ...made, blockId: forged.blockId, height });
    // By then transfers paid fees: their average fee is the default.
    expect(await resultOf("transactions.create", payment)).toMatchObject({
      fee: expect.stringMatching(/^\d+$/),
    });
  });

  test("Simultaneous transfers of a wallet get consecutive nonces, and all are forged.", async () => {
    const payment = { amount: 1, recipientId: bob.address, passphrase: alice.passphrase, fee: "20000000" };
    arrivals = arrivalsOf(50);
    const made = await Promise.all(
      Array.from({ length: 50 }, () => resultOf("transactions.create", payment)),
    );
    arrivals = undefined;
    const inOrder = made.toSorted((left, right) => Number(left.nonce) - Number(right.nonce));
    const first = Number(inOrder[0]?.nonce);
    expect(inOrder.map(({ nonce }) => Number(nonce))).toEqual(made.map((_, index) => first + index));
    const last = present(inOrder.at(-1));
    expect((await call("transactions.broadcast", { id: last.id })).error?.data).toContain(
      "broadcast the transactions of a wallet in the order of their nonces",
    );
    for (const { id } of inOrder.slice(0, -1)) await resultOf("transactions.broadcast", { id });
    // The node has refused the last one, and checks it again after its next block.
    await expect
      .poll(async () => (await call("transactions.broadcast", { id: last.id })).error)
      .toBeUndefined();
    await expect.poll(async () => (await call("transactions.info", { id: last.id })).error).toBeUndefined();
  });

  test("Votes are accepted by the network.", async () => {
    const params = { publicKey: delegate.publicKey, passphrase: alice.passphrase };
    const vote = await resultOf("transactions.vote.create", params);
    expect(vote).toMatchObject({ typeGroup: 2001, type: 5, asset: { votes: [`+${delegate.publicKey}`] } });
    await forge(vote);
    const unvote = await resultOf("transactions.unvote.create", params);
    expect(unvote).toMatchObject({ asset: { votes: [`-${delegate.publicKey}`] } });
    await forge(unvote);
    const registration = { username: alice.unikId, passphrase: alice.passphrase };
    expect(await resultOf("transactions.delegateRegistration.create", registration)).toMatchObject({
      typeGroup: 2001,
      type: 1,
      asset: { delegate: { username: alice.unikId } },
    });
  });

  test("Keys with a password are created once, paid to, and paid from.", async () => {
    const keeper = { bip38: "a password", userId: "0aff" };
    const wallet = await resultOf("wallets.bip38.create", keeper);
    expect(wallet).toEqual({
      address: expect.stringMatching(/^D/),
      publicKey: expect.stringMatching(/^[0-9a-f]{66}$/),
      wif: expect.any(String),
    });
    expect(await resultOf("wallets.bip38.create", keeper)).toEqual(wallet);
    const wrong = await call("wallets.bip38.info", { ...keeper, bip38: "another" });
    expect(wrong.error).toMatchObject({ code: 422 });

    const { address } = wallet;
    const gift = { amount: 500_000_000, recipientId: address, passphrase: alice.passphrase };
    await forge(await resultOf("transactions.create", gift));
    // All of it is on disk, readable for the owner only.
    expect(statSync(data).mode & 0o777).toBe(0o600);
    companion.child.kill("SIGTERM");
    expect((await companion.ended).code).toBe(0);
    await startCompanion();
    expect(await resultOf("wallets.bip38.info", { ...keeper, userId: "0AFF" })).toEqual(wallet);
    const payment = { amount: 1, recipientId: bob.address, ...keeper };
    expect(await forge(await resultOf("transactions.bip38.create", payment))).toMatchObject({
      sender: address,
    });
  });

  test("A passphrase yields its address.", async () => {
    const { address, publicKey, passphrase } = alice;
    expect(await resultOf("wallets.create", { passphrase })).toEqual({ address, publicKey });
  });
});

describe("invalid calls", () => {
  const bodyOf = async (text: string) => (await post(text)).body;
  const failure = (id: unknown, code: number) => ({
    jsonrpc: "2.0",
    id,
    error: expect.objectContaining({ code }),
  });

  test.each([
    ["{", null, -32700],
    ["[]", null, -32600],
    ["1", null, -32600],
    ["null", null, -32600],
    ['{"jsonrpc":"2.0","method":"blocks.latest"}', null, -32600],
    ['{"jsonrpc":"2.0","method":"blocks.latest","id":null}', null, -32600],
    ['{"jsonrpc":"1.0","method":"blocks.latest","id":1}', 1, -32600],
    ['{"jsonrpc":"2.0","id":1}', 1, -32600],
    ['{"jsonrpc":"2.0","method":"blocks.fly","id":"a"}', "a", -32601],
    ['{"jsonrpc":"2.0","method":"toString","id":"a"}', "a", -32601],
    ['{"jsonrpc":"2.0","method":"blocks.info","id":1}', 1, -32602],
    ['{"jsonrpc":"2.0","method":"blocks.info","id":1,"params":[]}', 1, -32602],
    ['{"jsonrpc":"2.0","method":"blocks.info","id":1,"params":{"id":1}}', 1, -32602],
  ])("%s", async (text, id, code) => {
    expect(await bodyOf(text)).toEqual(failure(id, code));
  });

  test("A wrong parameter is named, a passphrase never shown.", async () => {
    const params = { amount: "1", recipientId: bob.address, passphrase: alice.passphrase };
    const { error } = await call("transactions.create", params);
    expect(error).toEqual({
      code: -32602,
      message: "Invalid params",
      data: expect.stringMatching(/^amount: /),
    });
    expect(companion.stderr()).not.toContain(alice.passphrase);
  });

  test.each([
    ["a wrong checksum", { recipientId: bob.address.replace(/.$/, (last) => (last === "a" ? "b" : "a")) }],
    ["an address of another network", { recipientId: addressFromPublicKey(bob.publicKey, LIVENET) }],
    ["a message above the maximum size", { vendorField: "é".repeat(128) }],
  ])("%s is a wrong parameter as well", async (_what, wrong) => {
    const params = { amount: 1, recipientId: bob.address, passphrase: alice.passphrase, ...wrong };
    const { error } = await call("transactions.create", params);
    const [name] = Object.keys(wrong);
    expect(error).toMatchObject({ code: -32602, data: expect.stringMatching(new RegExp(`^${name}: `)) });
  });

  test.each([
    ["transactions.create", { amount: 1, recipientId: bob.address, fee: "0" }, "fee"],
    ["transactions.create", { amount: 1, recipientId: bob.address, fee: "9999999999999999999" }, "fee"],
    ["transactions.delegateRegistration.create", { username: "bob" }, "username"],
  ])("A transaction that no node would accept is not created: %s with %j.", async (method, params, name) => {
    const { error } = await call(method, { ...params, passphrase: alice.passphrase });
    expect(error).toMatchObject({ code: -32602, data: expect.stringMatching(new RegExp(`^${name}: must `)) });
  });

  test("A batch is processed in order, each call separately.", async () => {
    const one = (id: number, method: string) => ({ jsonrpc: "2.0", id, method, params: {} });
    const body = await bodyOf(JSON.stringify([one(1, "blocks.latest"), one(2, "fly"), 3]));
    expect(body).toEqual([
      { jsonrpc: "2.0", id: 1, result: expect.objectContaining({ confirmations: 0 }) },
      failure(2, -32601),
      failure(null, -32600),
    ]);
    const many = Array.from({ length: 101 }, (_, id) => one(id, "blocks.latest"));
    expect(await bodyOf(JSON.stringify(many))).toEqual(failure(null, -32600));
  });

  test("A batch of transactions of a wallet has consecutive nonces.", async () => {
    const params = { amount: 1, recipientId: alice.address, passphrase: bob.passphrase };
    const one = (id: number) => ({ jsonrpc: "2.0", id, method: "transactions.create", params });
    const made = (await bodyOf(JSON.stringify([one(1), one(2), one(3)]))) as { result: { nonce: string } }[];
    const nonces = made.map(({ result }) => Number(result.nonce));
    expect(nonces).toEqual([nonces[0], Number(nonces[0]) + 1, Number(nonces[0]) + 2]);
  });

  test("Calls of another media type are refused.", async () => {
    const latest = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "blocks.latest" });
    expect((await post(latest, { "content-type": `${MEDIA_TYPE}; charset=utf-8` })).status).toBe(200);
    expect((await post(latest, { "content-type": "application/json" })).status).toBe(415);
    expect((await post(latest, { accept: MEDIA_TYPE })).status).toBe(415);
  });
});

describe("allowed callers", () => {
  test("The companion allows only loopback callers, unless others are listed.", async () => {
    const args = ["rpc", "--url", nodeUrl, "--rpc-port", "0", "--rpc-data", ":memory:"];
    const closed = spawnUniknode([...args, "--rpc-allow", "192.0.2.1"]);
    try {
      const [, address] = await closed.printed(/^(http:\S+)$/m);
      const { status } = await fetch(present(address), { method: "POST", body: "{}" });
      expect(status).toBe(401);
      expect(new URL(url).hostname).toBe("127.0.0.1");
    } finally {
      closed.child.kill("SIGKILL");
      await closed.ended;
    }
  });

  test("The companion does not start without a node.", async () => {
    const { code, stderr } = await runUniknode([
      "rpc",
      "--url",
      url,
      "--rpc-port",
      "0",
      "--rpc-data",
      ":memory:",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("GET /api/node/configuration/crypto");
  });
});

/** The commands of the dev chain, with the real program and over HTTP. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builders, signTransaction } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { SETUP_HEIGHT } from "../../src/dev-chain/setup.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { type Client, connect, transferOf } from "../../test-support/process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [alice, bob] = [people("account 0"), people("account 1")];
const TOKEN = "dev-commands";
const BLOCK_TIME = 2;

type Timestamp = { epoch: number; unix: number; human: string };
type BlockReference = { height: number; id: string; timestamp: Timestamp };
type CommandResult = {
  id?: string;
  head: BlockReference;
  reverted: BlockReference[];
  applied: BlockReference[];
  now: Timestamp;
  forging: boolean;
};

const folder = mkdtempSync(join(tmpdir(), "uniknode-commands-"));
let node: Running;
let url: string;
let client: Client;

async function start(): Promise<void> {
  const fixed = ["dev", "--data", folder, "--http-port", "0", "--webhook-token", TOKEN];
  node = spawnUniknode([...fixed, "--block-time", String(BLOCK_TIME)]);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  client = await connect(url);
}

beforeAll(start);

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  rmSync(folder, { recursive: true, force: true });
});

async function post(command: string, body?: unknown, headers: Record<string, string> = {}) {
  const hasBody = body !== undefined;
  const response = await fetch(`${url}/api/dev/${command}`, {
    method: "POST",
    headers: { authorization: TOKEN, ...(hasBody && { "content-type": "application/json" }), ...headers },
    ...(hasBody && { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    ...((await response.json()) as { data: CommandResult; message?: string }),
  };
}

async function run(command: string, body?: unknown): Promise<CommandResult> {
  const { status, message, data } = await post(command, body);
  expect({ status, message }).toEqual({ status: 200, message: undefined });
  return data;
}

const heights = (blocks: readonly BlockReference[]) => blocks.map(({ height }) => height);
const range = (from: number, length: number) => Array.from({ length }, (_, index) => from + index);
const blockAt = async (height: number) => (await client.get(`/api/blocks/${height}`)) as { id: string };
const pending = async () =>
  ((await client.get("/api/transactions/unconfirmed")) as { id: string }[]).map(({ id }) => id);
const nonceOf = async (address: string) =>
  BigInt(((await client.get(`/api/wallets/${address}`)) as { nonce: string }).nonce);
const balanceOf = async (address: string) =>
  ((await client.get(`/api/wallets/${address}`)) as { balance: string }).balance;

/** Id of a pending transfer from alice to bob. */
async function transfer(): Promise<string> {
  const transaction = transferOf(client.network, alice, bob.address, (await nonceOf(alice.address)) + 1n);
  expect((await client.submit([transaction])).accepted).toEqual([transaction.id]);
  return transaction.id;
}

/** Transfers of a sender to bob with the next nonces. */
const transfers = (count: number, nonce: bigint, sender: typeof alice) =>
  range(1, count).map((step) => transferOf(client.network, sender, bob.address, nonce + BigInt(step)));

/** Registers a webhook that subscribes to these events. */
async function register(webhook: object): Promise<void> {
  const response = await fetch(`${url}/api/webhooks`, {
    method: "POST",
    headers: { authorization: TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ ...webhook, conditions: [{ key: "none", condition: "ne", value: "" }] }),
  });
  expect(response.status).toBe(201);
}

/** Settles when the node has forged by itself. */
const forgedAbove = (height: number) =>
  until(`no block above ${height}`, async () => (await run("snapshot")).head.height > height);

describe("forge", () => {
  test("The command forge pauses and resumes the chain's own blocks.", async () => {
    await forgedAbove((await run("snapshot")).head.height);
    const { head, forging } = await run("forge", { enabled: false });
    expect(forging).toBe(false);
    // A round of slots, in which blocks would appear if forging continued.
    const { unix } = (await run("travel", { seconds: 6 * BLOCK_TIME })).now;
    await expect.poll(async () => (await run("snapshot")).now.unix).toBeGreaterThan(unix + 2);
    expect((await run("snapshot")).head).toEqual(head);
    expect((await run("forge", { enabled: true })).forging).toBe(true);
    await forgedAbove(head.height);
    await run("forge", { enabled: false });
  });
});

describe("mine", () => {
  test("The command mine forges one block by default, or several, each in its own slot.", async () => {
    const before = await run("snapshot");
    const one = await run("mine");
    expect(heights(one.applied)).toEqual([before.head.height + 1]);
    const { applied, head, now, reverted } = await run("mine", { blocks: 8 });
    expect(heights(applied)).toEqual(range(one.head.height + 1, 8));
    expect(reverted).toEqual([]);
    expect(head).toEqual(applied.at(-1));
    const times = [one.head, ...applied].map(({ timestamp }) => timestamp.epoch);
    for (const [index, time] of times.slice(1).entries()) {
      expect(time - present(times[index])).toBeGreaterThanOrEqual(BLOCK_TIME);
    }
    expect(now.epoch).toBeGreaterThanOrEqual(head.timestamp.epoch);
    expect((await blockAt(head.height)).id).toBe(head.id);
  });

  test("The command mine includes pending transactions.", async () => {
    const id = await transfer();
    const { head } = await run("mine", { blocks: 2 });
    expect(await client.get(`/api/transactions/${id}`)).toMatchObject({ confirmations: 2 });
    expect(await client.get(`/api/blocks/${head.height - 1}`)).toMatchObject({ transactions: 1 });
    expect(await pending()).toEqual([]);
  });
});

describe("reorg", () => {
  test("The command reorg replaces blocks by a longer branch; their transactions are pending again.", async () => {
    const id = await transfer();
    const { head, applied } = await run("mine", { blocks: 3 });
    const { reverted, ...after } = await run("reorg", { depth: 3 });
    expect(reverted).toEqual(applied.toReversed());
    expect(heights(after.applied)).toEqual(range(head.height - 2, 4));
    expect(after.head).toEqual(after.applied.at(-1));
    expect((await blockAt(head.height)).id).toBe(present(after.applied[2]).id);
    expect(await pending()).toEqual([id]);
    await run("mine");
    expect(await pending()).toEqual([]);
  });

  test("The command reorg keeps payments from the income of a reverted block, which the next block contains.", async () => {
    const poor = people("reorg poor");
    const payment = (sender: typeof alice, nonce: bigint, to: string, amount: bigint) =>
      signTransaction(
        builders.transfer({
          ...{ network: client.network, senderPublicKey: sender.publicKey, nonce, recipientId: to, amount },
          fee: 10_000_000n,
        }),
        sender.keys,
      );
    const income = payment(alice, (await nonceOf(alice.address)) + 1n, poor.address, 100_000_000n);
    expect((await client.submit([income])).accepted).toHaveLength(1);
    await run("mine");
    const spent = [1n, 2n].map((nonce) => payment(poor, nonce, bob.address, 40_000_000n));
    expect((await client.submit(spent)).accepted).toHaveLength(2);
    await run("mine");
    await run("reorg", { depth: 2 });
    const ids = [income, ...spent].map(({ id }) => id);
    expect((await pending()).toSorted()).toEqual(ids.toSorted());
    await run("mine");
    for (const id of ids) {
      expect(await client.get(`/api/transactions/${id}`)).toMatchObject({ confirmations: 1 });
    }
  });

  test("The command reorg includes the transactions in the other branch on request.", async () => {
    const id = await transfer();
    await run("mine", { blocks: 2 });
    const { applied } = await run("reorg", { depth: 2, blocks: 5, transactions: true });
    expect(applied).toHaveLength(5);
    expect(await client.get(`/api/transactions/${id}`)).toMatchObject({ blockId: present(applied[0]).id });
  });

  test("The command reorg omits the named transactions, and their dependents.", async () => {
    const [first, second] = transfers(2, await nonceOf(alice.address), alice);
    const [other] = transfers(1, await nonceOf(bob.address), bob);
    const ids = [present(first), present(second), present(other)].map(({ id }) => id);
    expect((await client.submit([present(first), present(second), present(other)])).accepted).toHaveLength(3);
    await run("mine", { blocks: 2 });
    await run("reorg", { depth: 2, transactions: true, without: [ids[0]] });
    expect(await client.get(`/api/transactions/${ids[2]}`)).toMatchObject({ confirmations: 3 });
    expect((await pending()).toSorted()).toEqual(ids.slice(0, 2).toSorted());
    await run("mine");
    expect(await pending()).toEqual([]);
    expect(await post("reorg", { depth: 1, without: [ids[0]] })).toMatchObject({
      status: 422,
      message: '"without" requires "transactions": true, because the branch has no transactions otherwise',
    });
    const tooMany = range(0, 501).map((index) => index.toString(16).padStart(64, "0"));
    expect(await post("reorg", { depth: 1, transactions: true, without: tooMany })).toMatchObject({
      status: 422,
    });
  });

  test("The command reorg works over many rounds, and no delegate signs two blocks for one slot.", async () => {
    const { head, applied } = await run("mine", { blocks: 60 });
    const first = await run("reorg", { depth: 60 });
    const second = await run("reorg", { depth: 55, blocks: 70 });
    expect(second.head.height).toBe(head.height + 1 - 55 + 70);
    const times = [...applied, ...first.applied, ...second.applied].map(({ timestamp }) => timestamp.epoch);
    expect(new Set(times).size).toBe(times.length);
  });

  test("The command reorg never shows an intermediate state to API clients.", async () => {
    const { head: before } = await run("mine", { blocks: 55 });
    const seen = new Set<string>();
    let isOver = false;
    async function look(): Promise<void> {
      while (!isOver) {
        const { data } = (await (await fetch(`${url}/api/blockchain`)).json()) as {
          data: { block: { height: number; id: string } };
        };
        seen.add(`${data.block.height} ${data.block.id}`);
      }
    }
    const readers = [look(), look()];
    await expect.poll(() => seen.size).toBe(1);
    const { head: after } = await run("reorg", { depth: 50 });
    await expect.poll(() => seen.size).toBe(2);
    isOver = true;
    await Promise.all(readers);
    expect([...seen]).toEqual([before, after].map(({ height, id }) => `${height} ${id}`));
  });

  test("The command reorg is delivered to webhooks: first the reverted blocks, then the other branch.", async () => {
    const delivered: string[] = [];
    const receiver = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += chunk));
      request.on("end", () => {
        const { event, data } = JSON.parse(text) as { event: string; data: { height: number } };
        delivered.push(`${event} ${data.height}`);
        response.writeHead(204).end();
      });
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    await run("mine", { blocks: 2 });
    await register({
      events: ["block.applied", "block.reverted"],
      order: "strict",
      target: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    });
    const { head } = await run("mine");
    await run("reorg", { depth: 1 });
    const { height } = head;
    const expected = ["applied", "reverted", "applied"].map((what) => `block.${what} ${height}`);
    await expect.poll(() => delivered).toEqual([...expected, `block.applied ${height + 1}`]);
    receiver.closeAllConnections();
    receiver.close();
  });

  test("The command reorg reverts neither the first blocks of the chain, nor for a branch that is not longer.", async () => {
    const { head } = await run("snapshot");
    const deepest = head.height - SETUP_HEIGHT;
    expect(await post("reorg", { depth: deepest + 1 })).toMatchObject({
      status: 422,
      message: `depth must be at most ${deepest}: a branch cannot start below height 3`,
    });
    expect(await post("reorg", { depth: 2, blocks: 2 })).toMatchObject({
      status: 422,
      message: "the new branch must be longer than the reverted blocks: more than 2 blocks",
    });
    expect((await run("snapshot")).head).toEqual(head);
  });
});

describe("snapshot and restore", () => {
  test("The commands snapshot and restore return the chain to its earlier state, with nothing pending.", async () => {
    const before = [await balanceOf(alice.address), await balanceOf(bob.address)];
    const { id, head } = await run("snapshot");
    await transfer();
    const { applied } = await run("mine", { blocks: 3 });
    await transfer();
    const restored = await run("restore", { id });
    expect(restored.head).toEqual(head);
    expect(restored.reverted).toEqual(applied.toReversed());
    expect(await pending()).toEqual([]);
    expect([await balanceOf(alice.address), await balanceOf(bob.address)]).toEqual(before);
    // Once more: the same transactions are accepted again, and blocks find slots.
    await transfer();
    await run("mine");
    expect((await run("restore", { id })).head).toEqual(head);
    expect((await run("restore", { id })).reverted).toEqual([]);
  });

  test("The command restore refuses a block that was reverted, or that never existed.", async () => {
    const { head } = await run("mine");
    await run("reorg", { depth: 1 });
    const now = await run("snapshot");
    for (const id of [head.id, "ab".repeat(32)]) {
      expect(await post("restore", { id })).toMatchObject({
        status: 409,
        message: `block ${id} is not on the chain: a block that was reverted cannot be restored`,
      });
    }
    expect((await run("snapshot")).head).toEqual(now.head);
  });
});

describe("travel", () => {
  test("The command travel moves the clock forward, by seconds or to a time, and the next block has that time.", async () => {
    const { now, head } = await run("travel", { seconds: 3600 });
    expect((await run("snapshot")).head).toEqual(head);
    const block = await run("mine");
    expect(block.head.timestamp.unix).toBeGreaterThanOrEqual(now.unix - BLOCK_TIME);
    const to = now.unix + 86_400;
    expect((await run("travel", { to })).now.unix).toBeGreaterThanOrEqual(to);
    const { unix } = (await run("mine")).head.timestamp;
    expect(unix).toBeGreaterThanOrEqual(to - BLOCK_TIME);
    expect(await client.get("/api/node/status")).toMatchObject({ now: block.head.height + 1 });
  });

  test("The command travel does not age the events of the log: readers may still need them.", async () => {
    await register({ events: ["block.applied"], target: "http://127.0.0.1:9/" });
    await run("travel", { seconds: 30 * 86_400 });
    await run("mine");
    const database = openDatabase(join(folder, "node.sqlite"), { readonly: true });
    const { latest } = present(
      database.prepare<{ latest: number }>("SELECT max(created_ms) AS latest FROM events").get(),
    );
    database.close();
    expect(latest).toBeLessThanOrEqual(Date.now());
  });

  test("The command travel neither goes back nor leaves the range of timestamps.", async () => {
    const { now } = await run("snapshot");
    const back = await post("travel", { to: now.unix - 60 });
    expect(back).toMatchObject({ status: 422, message: expect.stringContaining("cannot be moved back") });
    const beyond = await post("travel", { seconds: 3e9 });
    expect(beyond).toMatchObject({ status: 422, message: expect.stringContaining("the year 2100") });
    for (const body of [{}, { seconds: 1, to: now.unix + 60 }]) {
      expect(await post("travel", body)).toMatchObject({
        status: 422,
        message: 'one of "seconds" and "to" is required, but not both',
      });
    }
  });
});

describe("a request", () => {
  test("A request requires the token of the register, and JSON.", async () => {
    const { head } = await run("snapshot");
    for (const command of ["mine", "reorg", "snapshot", "restore", "travel", "forge"]) {
      expect((await post(command, {}, { authorization: "another" })).status).toBe(401);
    }
    expect((await post("mine", {}, { "content-type": "text/plain" })).status).toBe(415);
    expect((await run("snapshot")).head).toEqual(head);
  });

  test.each<[string, unknown, string]>([
    ["mine", { blocks: 0 }, '"blocks"'],
    ["mine", { blocks: 1_001 }, '"blocks"'],
    ["mine", { blocks: "1" }, '"blocks"'],
    ["mine", { block: 1 }, '"block" is not allowed'],
    ["mine", [], '"value"'],
    ["reorg", {}, '"depth"'],
    ["reorg", undefined, '"depth"'],
    ["reorg", { depth: 1.5 }, '"depth"'],
    ["reorg", { depth: 1, transactions: "true" }, '"transactions"'],
    ["snapshot", { id: "x" }, '"id" is not allowed'],
    ["restore", {}, '"id"'],
    ["restore", { id: "x" }, '"id"'],
    ["travel", { seconds: 0 }, '"seconds"'],
    ["travel", { to: "tomorrow" }, '"to"'],
    ["forge", {}, '"enabled"'],
    ["forge", { enabled: "true" }, '"enabled"'],
  ])("%s %j is refused with the name of the member", async (command, body, message) => {
    const before = await run("snapshot");
    expect(await post(command, body)).toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    });
    const { head, forging } = await run("snapshot");
    expect({ head, forging }).toEqual({ head: before.head, forging: before.forging });
  });

  test("A request waits for the previous one.", async () => {
    const { head } = await run("snapshot");
    const results = await Promise.all([1, 2, 3].map((blocks) => run("mine", { blocks })));
    expect(results.flatMap(({ applied }) => heights(applied)).sort((a, b) => a - b)).toEqual(
      range(head.height + 1, 6),
    );
  });
});

test("With blocks on demand, transactions that return from a branch cause one.", async () => {
  const own = mkdtempSync(join(tmpdir(), "uniknode-demand-"));
  const instant = spawnUniknode(
    ["dev", "--data", own, "--http-port", "0", "--block-time", "1", "--instant"].concat(
      "--webhook-token",
      TOKEN,
    ),
  );
  try {
    const base = await apiUrlOf(instant);
    await instant.printed(/Ctrl-C stops/);
    const { network, submit } = await connect(base);
    const carol = people("account 5");
    await submit([transferOf(network, carol, bob.address, 1n)]);
    await instant.printed(/^block 4 .* 1 transaction /m);
    const response = await fetch(`${base}/api/dev/reorg`, {
      method: "POST",
      headers: { authorization: TOKEN, "content-type": "application/json" },
      body: JSON.stringify({ depth: 1 }),
    });
    expect(response.status).toBe(200);
    await instant.printed(/^reverted 1 block, back at height 3\nblock 4 .* empty .*\nblock 5 .* empty /m);
    await instant.printed(/^block 6 .* 1 transaction /m);
  } finally {
    instant.child.kill("SIGKILL");
    await instant.ended;
    rmSync(own, { recursive: true, force: true });
  }
});

describe("after a restart", () => {
  test("After a restart, the clock has its earlier time, and the chain continues.", async () => {
    const { now, head } = await run("travel", { seconds: 86_400 });
    node.child.kill("SIGKILL");
    await node.ended;
    await start();
    expect((await run("snapshot")).now.unix).toBeGreaterThanOrEqual(now.unix);
    await forgedAbove(head.height);
    const { timestamp } = (await run("snapshot")).head;
    expect(timestamp.unix).toBeGreaterThanOrEqual(now.unix - BLOCK_TIME);
  });
});

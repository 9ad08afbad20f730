/** Events with their real causes: each one is caused on a running chain, and delivered. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { builders, signTransaction, type TransactionBody } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DevAccount, deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { type Client, connect } from "../../test-support/process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until, WAIT_MS } from "../../test-support/process/until.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
const [owner, minter, stranger] = [people("account 0"), people("account 7"), people("unused account")];
const factory = people("factory");
const folder = mkdtempSync(join(tmpdir(), "uniknode-events-"));
const TOKEN = "events-test";

type Delivery = { event: string; data: Record<string, unknown> };
const delivered: Delivery[] = [];
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  delivered.push(JSON.parse(Buffer.concat(chunks).toString()) as Delivery);
  response.writeHead(204).end();
});

let node: Running;
let client: Client;
let url: string;

async function start(): Promise<void> {
  const args = ["dev", "--data", folder, "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN];
  node = spawnUniknode(args);
  url = await apiUrlOf(node);
  client = await connect(url);
}

async function register(event: string): Promise<void> {
  const response = await fetch(`${url}/api/webhooks`, {
    method: "POST",
    headers: { authorization: TOKEN, "content-type": "application/json" },
    body: JSON.stringify({
      event,
      target: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
      conditions: [{ key: "none", condition: "ne", value: "" }],
    }),
  });
  expect(response.status).toBe(201);
}

/** Waits for the first delivery of the event that passes the test. */
async function arrival(event: string, fits: (data: Record<string, unknown>) => boolean = () => true) {
  const delivery = await until(
    () => `${event} did not arrive, but ${names().join()} did`,
    () => delivered.find((delivery) => delivery.event === event && fits(delivery.data)),
  );
  return delivery.data;
}

const names = () => [...new Set(delivered.map(({ event }) => event))].sort();

async function send(body: TransactionBody, { keys }: DevAccount): Promise<string> {
  const transaction = signTransaction(body, keys);
  const { accepted, errors } = await client.submit([transaction]);
  expect(errors).toEqual({});
  expect(accepted).toEqual([transaction.id]);
  return transaction.id;
}

const EVENTS = [
  "block.applied",
  "block.forged",
  "block.received",
  "block.reverted",
  "delegate.registered",
  "delegate.resigned",
  "forger.missing",
  "forger.started",
  "round.applied",
  "round.created",
  "state:started",
  "transaction.applied",
  "transaction.forged",
  "transaction.pool.added",
  "transaction.pool.rejected",
  "transaction.pool.removed",
  "transaction.reverted",
  "unik.disclosed",
  "unik.minted",
  "unik.transferred",
  "unik.updated",
  "wallet.created.cold",
  "wallet.saved",
  "wallet.vote",
];

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await start();
  for (const event of EVENTS) await register(event);
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

test("A transfer emits events of the pool, the block and the wallets.", async () => {
  const { network } = client;
  const envelope = { network, senderPublicKey: minter.publicKey, nonce: 1n };
  const id = await send(
    builders.transfer({ ...envelope, recipientId: stranger.address, amount: 500n }),
    minter,
  );
  const isIt = (data: Record<string, unknown>) => data.id === id;
  expect((await arrival("transaction.pool.added")) as unknown).toMatchObject([{ id, amount: "500" }]);
  expect(await arrival("transaction.applied", isIt)).toMatchObject({ recipientId: stranger.address });
  expect(await arrival("transaction.forged", isIt)).toMatchObject({ fee: "10000000" });
  expect(await arrival("transaction.pool.removed", isIt)).toMatchObject({ id });
  expect(await arrival("wallet.created.cold")).toMatchObject({ address: stranger.address, balance: "500" });
  expect(await arrival("wallet.saved", ({ address }) => address === stranger.address)).toMatchObject({
    isDelegate: false,
  });
  const header = await arrival("block.applied", ({ numberOfTransactions }) => numberOfTransactions === 1);
  expect(await arrival("block.received", (data) => data.id === header.id)).toMatchObject({
    transactions: [{ id }],
  });
  expect(await arrival("block.forged", (data) => data.id === header.id)).toEqual(header);
});

test("A transaction that the rules refuse emits an event of its rejection.", async () => {
  const { network, submit } = client;
  const envelope = { network, senderPublicKey: minter.publicKey, nonce: 99n };
  const transaction = signTransaction(
    builders.transfer({ ...envelope, recipientId: stranger.address, amount: 1n }),
    minter.keys,
  );
  expect((await submit([transaction])).accepted).toEqual([]);
  expect((await arrival("transaction.pool.rejected")) as unknown).toMatchObject([
    { transaction: { id: transaction.id }, type: "ERR_APPLY" },
  ]);
});

test("The life of a unik emits events, from its mint to a vote for its owner.", async () => {
  const { network } = client;
  const [tokenId, other] = ["ab".repeat(32), "cd".repeat(32)];
  const envelope = (nonce: bigint) => ({ network, senderPublicKey: minter.publicKey, nonce });
  const mint = (nonce: bigint, id: string) =>
    builders.nftMint({ ...envelope(nonce), tokenId: id, properties: { type: "1" } });
  const applied = (id: string) => arrival("transaction.applied", (data) => data.id === id);

  await applied(await send(mint(2n, tokenId), minter));
  expect(await arrival("unik.minted")).toMatchObject({ tokenId, ownerId: minter.address });
  await send(builders.nftUpdate({ ...envelope(3n), tokenId, properties: { a: "b" } }), minter);
  expect(await arrival("unik.updated")).toMatchObject({ tokenId });
  await applied(
    await send(
      builders.certifiedDisclosure({
        network,
        nonce: 4n,
        keys: minter.keys,
        tokenId,
        explicitValues: ["seven"],
        kind: 1,
        factory: { tokenId: factory.unikId, keys: factory.keys },
        issuedAt: 1,
      }),
      minter,
    ),
  );
  expect(await arrival("unik.disclosed")).toMatchObject({ tokenId });
  const registration = await send(builders.unsDelegateRegister({ ...envelope(5n), tokenId }), minter);
  expect(await arrival("delegate.registered")).toMatchObject({ id: registration });
  await send(builders.unsVote({ ...envelope(6n), vote: `+${minter.publicKey}` }), minter);
  expect(await arrival("wallet.vote")).toMatchObject({ delegate: `+${minter.publicKey}` });
  await applied(await send(mint(7n, other), minter));
  await send(builders.nftTransfer({ ...envelope(8n), tokenId: other, recipientId: owner.address }), minter);
  expect(await arrival("unik.transferred")).toMatchObject({ tokenId: other, ownerId: owner.address });
  const resignation = await send(builders.unsDelegateResign(envelope(9n)), minter);
  expect(await arrival("delegate.resigned")).toMatchObject({ id: resignation });
});

test("A transfer whose block is reverted emits events.", async () => {
  const { network } = client;
  const envelope = { network, senderPublicKey: owner.publicKey, nonce: 2n };
  const { dev } = createClient({ url, webhookToken: TOKEN, timeoutMs: WAIT_MS });
  const { data: before } = await dev.snapshot();
  const id = await send(builders.transfer({ ...envelope, recipientId: stranger.address, amount: 1n }), owner);
  const { blockId } = await arrival("transaction.applied", (data) => data.id === id);
  await dev.restore(before.id);
  expect(await arrival("transaction.reverted", (data) => data.id === id)).toMatchObject({ blockId });
  expect(await arrival("block.reverted", (data) => data.id === blockId)).toMatchObject({
    numberOfTransactions: 1,
  });
});

test("Rounds, the start of the forger, and slots missed while the node was away emit events.", async () => {
  expect(await arrival("round.created")).toHaveLength(6);
  await arrival("round.applied");
  node.child.kill("SIGTERM");
  await node.ended;
  await new Promise((next) => setTimeout(next, 2_500));
  await start();
  expect(await arrival("forger.started")).toMatchObject({ activeDelegates: expect.any(Array) });
  expect(await arrival("forger.missing")).toMatchObject({ delegate: { isDelegate: true } });
  await until("the start", () => names().some((name) => /^state[:.]started$/.test(name)));
});

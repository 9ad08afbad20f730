/** Every route has a function in the client, and every function of the client a route. */
import { type Client, createClient } from "@uniknode/client";
import { createSlots, transactionToJson } from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import type { DevAnswer } from "../../../src/dev/commands.ts";
import { createTimestampOf } from "../../../src/http/answers/timestamp.ts";
import { createDevRoutes } from "../../../src/http/dev/routes.ts";
import { createWebhookRoutes } from "../../../src/http/webhooks/routes.ts";
import { blockApplied, createService } from "../../webhooks/support.ts";
import { alice, bob, carol, chain, heads, unik } from "../chain.ts";
import { documentOf } from "../described.ts";
import { openFixture } from "../fixture.ts";
import { longer, more } from "../longer.ts";

const TOKEN = "of the operator";
/** The other prefix, names that tokens might have, and descriptions of the API. */
const OTHERS = /^\/api\/(v2|:name|wallets\/:id\/:name|openapi|documentation)/;

const webhook = {
  event: "block.applied",
  target: "https://receiver.example/hook",
  conditions: [{ key: "fee", condition: "gte", value: "1" }],
} as const;
const { hello, vote } = chain.sent;
const [waiting] = chain.waiting;

/** The stream has a test of its own. */
type Calls = { [R in Exclude<keyof Client, "events">]: { [F in keyof Client[R]]: () => unknown } };

/** In an order in which the register has what the next call is about. */
const callsOf = (client: Client): Calls => ({
  blockchain: { get: () => client.blockchain.get() },
  blocks: {
    list: () => client.blocks.list().page(),
    first: () => client.blocks.first(),
    last: () => client.blocks.last(),
    get: () => client.blocks.get(3),
    transactions: () => client.blocks.transactions(3).page(),
    search: () => client.blocks.search({ height: { from: 2 } }).page(),
  },
  delegates: {
    list: () => client.delegates.list().page(),
    get: () => client.delegates.get(bob.address),
    blocks: () => client.delegates.blocks(unik.bob).page(),
    voters: () => client.delegates.voters(bob.publicKey).page(),
    search: () => client.delegates.search({ approval: { from: 0 } }).page(),
  },
  dev: {
    mine: () => client.dev.mine({ blocks: 2 }),
    reorg: () => client.dev.reorg({ depth: 1 }),
    snapshot: () => client.dev.snapshot(),
    restore: () => client.dev.restore("ab".repeat(32)),
    travel: () => client.dev.travel({ seconds: 60 }),
    forge: () => client.dev.forge({ enabled: false }),
  },
  entities: {
    list: () => client.entities.list().page(),
    get: () => client.entities.get(more.entity.data.id),
    search: () => client.entities.search({ name: "my" }).page(),
  },
  locks: {
    list: () => client.locks.list().page(),
    get: () => client.locks.get(more.first.data.id),
    search: () => client.locks.search({ amount: { to: 1_000_000n } }).page(),
    unlocked: () => client.locks.unlocked([more.first.data.id]).page(),
  },
  nfts: {
    list: () => client.nfts.list().page(),
    get: () => client.nfts.get(unik.alice),
    properties: () => client.nfts.properties(unik.alice).page(),
    property: () => client.nfts.property(unik.alice, "type"),
    search: () => client.nfts.search({ id: [unik.alice] }).page(),
    status: () => client.nfts.status(),
  },
  node: {
    status: () => client.node.status(),
    syncing: () => client.node.syncing(),
    configuration: () => client.node.configuration(),
    cryptoConfiguration: () => client.node.cryptoConfiguration(),
    fees: () => client.node.fees({ days: 30 }),
  },
  peers: {
    list: () => client.peers.list({ version: "^5.9", orderBy: "height:desc" }).page(),
    get: () => client.peers.get("2001:db8::1"),
  },
  rounds: { delegates: () => client.rounds.delegates(2) },
  transactions: {
    list: () => client.transactions.list({ typeGroup: 2001 }).page(),
    get: () => client.transactions.get(hello.data.id),
    submit: () => client.transactions.submit([transactionToJson(waiting!.data)]),
    search: () => client.transactions.search({ addresses: [alice.address] }).page(),
    unconfirmed: () => client.transactions.unconfirmed().page(),
    getUnconfirmed: () => client.transactions.getUnconfirmed(waiting!.data.id),
    types: () => client.transactions.types(),
    schemas: () => client.transactions.schemas(),
    fees: () => client.transactions.fees(),
  },
  uniks: {
    list: () => client.uniks.list({ orderBy: "ownerId:desc" }).page(),
    get: () => client.uniks.get(unik.alice),
    properties: () => client.uniks.properties(unik.alice).page(),
    property: () => client.uniks.property(unik.alice, "Badges/XPLevel"),
    search: () => client.uniks.search({ ownerId: alice.address }).page(),
  },
  votes: {
    list: () => client.votes.list({ senderId: alice.address }).page(),
    get: () => client.votes.get(vote.data.id),
  },
  wallets: {
    list: () => client.wallets.list({ orderBy: "nonce:asc" }).page(),
    top: () => client.wallets.top().page(),
    get: () => client.wallets.get(alice.address),
    transactions: () => client.wallets.transactions(alice.address).page(),
    sent: () => client.wallets.sent(alice.publicKey).page(),
    received: () => client.wallets.received(carol.address).page(),
    votes: () => client.wallets.votes(alice.address).page(),
    locks: () => client.wallets.locks(alice.address, { isExpired: false }).page(),
    uniks: () => client.wallets.uniks(alice.address).page(),
    nfts: () => client.wallets.nfts(alice.address).page(),
    search: () => client.wallets.search({ balance: { from: 1n } }, { orderBy: "balance:asc" }).page(),
  },
  webhooks: {
    create: () => client.webhooks.create(webhook),
    list: () => client.webhooks.list().page(),
    get: () => client.webhooks.get(1),
    replay: () => client.webhooks.replay(1, { fromHeight: 1, toHeight: 1 }),
    getReplay: () => client.webhooks.getReplay(1),
    cancelReplay: () => client.webhooks.cancelReplay(1),
    update: () => client.webhooks.update(1, { enabled: false }),
    rotate: () => client.webhooks.rotate(1),
    ping: () => client.webhooks.ping(1),
    deliveries: () => client.webhooks.deliveries(1).page(),
    delivery: () => client.webhooks.delivery(1, 1),
    retry: () => client.webhooks.retry(1, 1),
    retryFailed: () => client.webhooks.retryFailed(1, { since: 0 }),
    test: () => client.webhooks.test({ event: "block.applied", conditions: webhook.conditions, blocks: 1 }),
    remove: () => client.webhooks.remove(1),
  },
});

const unchanged: DevAnswer = {
  head: { height: 6, id: heads.head.id, timestamp: 40 },
  reverted: [],
  applied: [],
  now: 41,
  isForging: true,
};

/** A whole server that writes down which routes there are, and which were called. */
async function serve() {
  const service = createService({ chain: [[blockApplied(1)]] });
  const timestampOf = createTimestampOf(createSlots(chain.network).unixMsOf);
  const dev = { gateway: { dev: async () => unchanged }, timestampOf };
  const plugins = [
    createWebhookRoutes({ token: TOKEN }, service.webhooks),
    createDevRoutes({ token: TOKEN }, dev),
  ];
  const fixture = openFixture({}, { plugins }, longer);
  const [registered, called] = [new Set<string>(), new Set<string>()];
  fixture.app.addHook("onRoute", ({ method, url }) => {
    const isVerb = ["GET", "POST", "PUT", "DELETE"].includes(`${method}`);
    if (isVerb && url.startsWith("/api/") && !OTHERS.test(url)) registered.add(`${method} ${url}`);
  });
  fixture.app.addHook("onResponse", async ({ method, routeOptions }) => {
    called.add(`${method} ${routeOptions.url}`);
  });
  const { port } = await fixture.listen();
  onTestFinished(async () => {
    await fixture.close();
    await service.close();
  });
  return { url: `http://127.0.0.1:${port}`, registered, called, document: documentOf(fixture.app) };
}

test("every function has a route, every route a function", async () => {
  const { url, registered, called } = await serve();
  const client = createClient({ url, webhookToken: TOKEN, retries: 0 });
  for (const [resource, functions] of Object.entries(callsOf(client))) {
    for (const [name, call] of Object.entries(functions)) {
      const answered = Promise.resolve(call()).then(() => "answered");
      await expect(answered, `${resource}.${name}`).resolves.toBe("answered");
    }
  }
  expect([...called].sort()).toEqual([...registered].sort());
  expect(registered.size).toBeGreaterThan(70);
});

test("the document tells of exactly the routes that have a function", async () => {
  const { registered, document } = await serve();
  const told = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => `${method.toUpperCase()} /api${path.replace(/\{(\w+)\}/g, ":$1")}`,
    ),
  );
  expect(told.sort()).toEqual([...registered].sort());
});

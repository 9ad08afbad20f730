/**
 * Every route has a function in the client, every function of the client a route, and every list is iterated.
 */

import { type Client, createClient } from "@uniknode/client";
import { createSlots, transactionToJson } from "@uniknode/protocol";
import { expect, onTestFinished, test } from "vitest";
import { EMPTY_ROOT } from "../../../src/facts/merkle/proofs.ts";
import { keyOfPem, NoteSigner } from "../../../src/facts/note.ts";
import type { FactReader } from "../../../src/facts/reader.ts";
import type { DevResult } from "../../../src/gateway/gateway.ts";
import { createTimestampOf } from "../../../src/http/core/values.ts";
import { createDevRoutes } from "../../../src/http/dev/routes.ts";
import { createFactRoutes } from "../../../src/http/facts/routes.ts";
import { createAccess } from "../../../src/http/webhooks/access.ts";
import { createWebhookRoutes } from "../../../src/http/webhooks/routes.ts";
import { createOperatorRoutes } from "../../../src/operations/http/operator.ts";
import { present } from "../../../src/platform/present.ts";
import { Failures } from "../../../src/webhooks/delivery/failures.ts";
import { CHECKPOINT_KEY } from "../../../test-support/facts/key.ts";
import { alice, bob, carol, chain, heads, unik } from "../../../test-support/http/chain.ts";
import { type Document, documentOf, type Operation } from "../../../test-support/http/described.ts";
import { openFixture } from "../../../test-support/http/fixture.ts";
import { ended, longer, more } from "../../../test-support/http/longer.ts";
import { createOperator } from "../../../test-support/http/operator.ts";
import { blockApplied, createService } from "../../../test-support/webhooks/support.ts";

const TOKEN = "of the operator";
/** The other prefix, names that tokens might have, and descriptions of the API. */
const OTHERS = /^\/api\/(v2|:name|wallets\/:id\/:name|facts\/tile|openapi|documentation)/;

const webhook = {
  event: "block.applied",
  target: "https://receiver.example/hook",
  conditions: [{ key: "fee", condition: "gte", value: "1" }],
} as const;
const { hello, vote } = chain.sent;
const waiting = present(chain.waiting[0], "a pending transaction");

/** The stream has a test of its own. */
type Calls = { [R in Exclude<keyof Client, "events">]: { [F in keyof Client[R]]: () => object } };

/** Ordered so that each call finds the objects it needs. Lists have no parameters yet. */
const callsOf = (client: Client): Calls => ({
  blockchain: {
    get: () => client.blockchain.get(),
    identifiers: () => client.blockchain.identifiers("0123"),
    activity: () => client.blockchain.activity({ hours: 720 }),
  },
  blocks: {
    list: () => client.blocks.list(),
    first: () => client.blocks.first(),
    last: () => client.blocks.last(),
    get: () => client.blocks.get(3),
    proof: () => client.blocks.proof(3, { checkpoint: 1 }),
    transactions: () => client.blocks.transactions(3),
    search: () => client.blocks.search({ height: { from: 2 } }),
  },
  delegates: {
    list: () => client.delegates.list(),
    get: () => client.delegates.get(bob.address),
    blocks: () => client.delegates.blocks(unik.bob),
    voters: () => client.delegates.voters(bob.publicKey),
    search: () => client.delegates.search({ approval: { from: 0 } }),
  },
  dev: {
    mine: () => client.dev.mine({ blocks: 2 }),
    reorg: () => client.dev.reorg({ depth: 1 }),
    snapshot: () => client.dev.snapshot(),
    restore: () => client.dev.restore("ab".repeat(32)),
    travel: () => client.dev.travel({ seconds: 60 }),
    forge: () => client.dev.forge({ enabled: false }),
    fail: () => client.dev.fail(1, { how: "drop" }),
    accounts: () => client.dev.accounts(),
    failing: () => client.dev.failing(),
  },
  entities: {
    list: () => client.entities.list(),
    get: () => client.entities.get(more.entity.data.id),
    search: () => client.entities.search({ name: "my" }),
  },
  facts: {
    checkpoint: () => client.facts.checkpoint(),
    proof: () => client.facts.proof(1, { size: 2 }),
    consistency: () => client.facts.consistency(1, 2),
  },
  locks: {
    list: () => client.locks.list(),
    get: () => client.locks.get(more.first.data.id),
    search: () => client.locks.search({ amount: { to: 1_000_000n } }),
    unlocked: () => client.locks.unlocked([ended.claimed, ended.refunded]),
  },
  nfts: {
    list: () => client.nfts.list(),
    get: () => client.nfts.get(unik.alice),
    properties: () => client.nfts.properties(unik.alice),
    property: () => client.nfts.property(unik.alice, "type"),
    search: () => client.nfts.search({ id: [unik.alice] }),
    status: () => client.nfts.status(),
  },
  node: {
    status: () => client.node.status(),
    syncing: () => client.node.syncing(),
    configuration: () => client.node.configuration(),
    cryptoConfiguration: () => client.node.cryptoConfiguration(),
    fees: () => client.node.fees({ days: 30 }),
  },
  operations: {
    node: () => client.operations.node(),
    series: () => client.operations.series({ since: 1 }),
    options: () => client.operations.options(),
  },
  peers: {
    list: () => client.peers.list({ version: "^5.9", orderBy: "height:desc" }),
    get: () => client.peers.get("2001:db8::1"),
  },
  rounds: { delegates: () => client.rounds.delegates(2) },
  transactions: {
    list: () => client.transactions.list({ typeGroup: 2001 }),
    get: () => client.transactions.get(hello.data.id),
    proof: () => client.transactions.proof(hello.data.id),
    submit: () => client.transactions.submit([transactionToJson(waiting.data)]),
    search: () => client.transactions.search({ addresses: [alice.address] }),
    unconfirmed: () => client.transactions.unconfirmed(),
    getUnconfirmed: () => client.transactions.getUnconfirmed(waiting.data.id),
    types: () => client.transactions.types(),
    schemas: () => client.transactions.schemas(),
    fees: () => client.transactions.fees(),
  },
  uniks: {
    list: () => client.uniks.list({ orderBy: "ownerId:desc" }),
    get: () => client.uniks.get(unik.alice),
    properties: () => client.uniks.properties(unik.alice),
    property: () => client.uniks.property(unik.alice, "Badges/XPLevel"),
    search: () => client.uniks.search({ ownerId: alice.address }),
    resolution: () => client.uniks.resolution(unik.alice),
  },
  votes: {
    list: () => client.votes.list({ senderId: alice.address }),
    get: () => client.votes.get(vote.data.id),
  },
  wallets: {
    list: () => client.wallets.list({ orderBy: "nonce:asc" }),
    top: () => client.wallets.top(),
    get: () => client.wallets.get(alice.address),
    history: () => client.wallets.history(alice.address, { from: 2 }),
    transactions: () => client.wallets.transactions(alice.address),
    sent: () => client.wallets.sent(alice.publicKey),
    received: () => client.wallets.received(carol.address),
    votes: () => client.wallets.votes(alice.address),
    locks: () => client.wallets.locks(alice.address, { isExpired: false }),
    uniks: () => client.wallets.uniks(alice.address),
    nfts: () => client.wallets.nfts(alice.address),
    search: () => client.wallets.search({ balance: { from: 1n } }, { orderBy: "balance:asc" }),
  },
  webhooks: {
    create: () => client.webhooks.create(webhook),
    list: () => client.webhooks.list({ state: "active", search: "a" }),
    health: () => client.webhooks.health(),
    pingTarget: () => client.webhooks.pingTarget("http://127.0.0.1:1/"),
    get: () => client.webhooks.get(1),
    replay: () => client.webhooks.replay(1, { fromHeight: 1, toHeight: 1 }),
    getReplay: () => client.webhooks.getReplay(1),
    cancelReplay: () => client.webhooks.cancelReplay(1),
    update: () => client.webhooks.update(1, { enabled: false }),
    rotate: () => client.webhooks.rotate(1),
    ping: () => client.webhooks.ping(1),
    deliveries: () => client.webhooks.deliveries(1),
    summary: () => client.webhooks.summary(1),
    delivery: () => client.webhooks.delivery(1, 1),
    retry: () => client.webhooks.retry(1, 1),
    retryFailed: () => client.webhooks.retryFailed(1, { since: 0 }),
    retryAll: () => client.webhooks.retryAll(1, { state: "delivered", event: "block.applied", from: 0 }),
    test: () => client.webhooks.test({ event: "block.applied", conditions: webhook.conditions, blocks: 1 }),
    remove: () => client.webhooks.remove(1),
  },
});

const unchanged: DevResult = {
  head: { height: 6, id: heads.head.id, timestamp: 40 },
  reverted: [],
  applied: [],
  now: 41,
  isForging: true,
};

const CHECKPOINT = { size: 2, root: EMPTY_ROOT, block: { height: 1, id: heads.genesis.id } };
const LEAF = { height: 1, index: 1, event: "block.applied", content: "ab".repeat(32) };

/** Two leaves. */
const FACTS: FactReader = {
  checkpoint: async () => CHECKPOINT,
  inclusion: async (_, size = 2) => ({
    leaf: LEAF,
    size,
    root: EMPTY_ROOT,
    proof: [EMPTY_ROOT],
  }),
  consistency: async () => [],
  leaves: async () => undefined,
  resolution: async () => ({
    unik: undefined,
    pages: [],
    path: { siblings: [], end: undefined },
    map: { height: 1, blockId: heads.genesis.id, round: 1, root: "00".repeat(32), uniks: 0 },
    leaf: { index: 0, indexInBlock: 0, proof: [EMPTY_ROOT] },
    checkpoint: CHECKPOINT,
  }),
  tile: async () => undefined,
};

/** Complete server that records its routes and the calls to them. */
async function serve() {
  const service = createService({ chain: [[blockApplied(1)]] });
  const timestampOf = createTimestampOf(createSlots(chain.network).unixMsOf);
  const { register } = service.webhooks;
  await register.create(webhook);
  const receivers = { failures: new Failures(async () => ({ status: 204 }), 1_000), register };
  const account = { address: alice.address, passphrase: "alice", publicKey: alice.publicKey };
  const accounts = { accounts: [account], delegates: [], factory: account, foundation: account };
  const dev = { gateway: { dev: async () => unchanged }, timestampOf, receivers, accounts };
  const plugins = [
    createFactRoutes(FACTS, new NoteSigner("test", keyOfPem(CHECKPOINT_KEY))),
    createWebhookRoutes(createAccess({ token: TOKEN }), service.webhooks),
    createDevRoutes(createAccess({ token: TOKEN }), dev),
    createOperatorRoutes(createAccess({ token: TOKEN }), createOperator()),
  ];
  const fixture = openFixture({}, { plugins }, longer);
  const registered = new Set<string>();
  const called: string[] = [];
  fixture.app.addHook("onRoute", ({ method, url }) => {
    const isVerb = ["GET", "POST", "PUT", "DELETE"].includes(`${method}`);
    if (isVerb && url.startsWith("/api/") && !OTHERS.test(url)) registered.add(`${method} ${url}`);
  });
  fixture.app.addHook("onRequest", async ({ method, routeOptions }) => {
    called.push(`${method} ${routeOptions.url}`);
  });
  const { port } = await fixture.listen();
  onTestFinished(async () => {
    await fixture.close();
    await service.close();
  });
  return { url: `http://127.0.0.1:${port}`, registered, called, document: await documentOf(fixture.app) };
}

type AnyList = AsyncIterable<unknown> & { page(): Promise<{ data: readonly unknown[] }> };
const isList = (requested: object): requested is AnyList => Symbol.asyncIterator in requested;

/** Adds a limit to the parameters of every list. */
const fetchRowByRow: typeof fetch = (url, options) => {
  const limited = new URL(String(url));
  limited.searchParams.set("limit", "1");
  return fetch(limited, options);
};

/** Every function of the client by its name. */
const namedCalls = (client: Client): [name: string, call: () => object][] =>
  Object.entries(callsOf(client)).flatMap(([resource, functions]) =>
    Object.entries(functions).map(([name, call]): [string, () => object] => [`${resource}.${name}`, call]),
  );

async function rowsOf(list: AnyList): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const row of list) rows.push(row);
  return rows;
}

/** Calls every function, and returns the routes of lists with their rows on one page and one by one. */
async function callAll({ url, called }: Pick<Awaited<ReturnType<typeof serve>>, "url" | "called">) {
  const options = { url, webhookToken: TOKEN, retries: 0 };
  const rowByRow = new Map(namedCalls(createClient({ ...options, fetch: fetchRowByRow })));
  const lists = new Map<
    string,
    { readonly page: readonly unknown[]; readonly iterated: readonly unknown[] }
  >();
  for (const [name, call] of namedCalls(createClient(options))) {
    const requested = call();
    if (isList(requested)) {
      const { data: page } = await requested.page();
      const route = present(called.at(-1), "a called route");
      lists.set(route, { page, iterated: await rowsOf(rowByRow.get(name)?.() as AnyList) });
    } else {
      await expect(requested, name).resolves.toBeTypeOf("object");
    }
  }
  return lists;
}

/** Paths in the format of routes, by operation. */
const routesOf = ({ paths }: Document): [route: string, operation: Operation][] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} /api${path.replace(/\{(\w+)\}/g, ":$1")}`,
      operation,
    ]),
  );

test("Every function has a route, every route a function, and every list an iteration of all its rows.", async () => {
  const { registered, document, ...server } = await serve();
  const lists = await callAll(server);
  expect([...new Set(server.called)].sort()).toEqual([...registered].sort());
  expect(registered.size).toBeGreaterThan(70);
  const paged = routesOf(document).filter(([, { parameters = [] }]) =>
    parameters.some(({ name }) => name === "limit"),
  );
  expect([...lists.keys()].sort()).toEqual(paged.map(([route]) => route).sort());
  for (const [route, { page, iterated }] of lists) expect(iterated, route).toEqual(page);
  expect([...lists.values()].filter(({ page }) => page.length > 1).length).toBeGreaterThan(20);
});

test("The document has exactly the routes that have a function.", async () => {
  const { registered, document } = await serve();
  expect(
    routesOf(document)
      .map(([route]) => route)
      .sort(),
  ).toEqual([...registered].sort());
});

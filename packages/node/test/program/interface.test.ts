/** The sentences of interface.md, one row each, asked of a running node below both prefixes. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVERY_EVENT } from "@uniknode/client";
import { builders, signTransaction, type TransactionBody } from "@uniknode/protocol";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DevAccount, deriveAccounts } from "../../src/dev-chain/keys.ts";
import { DEV_ADDRESS_VERSION } from "../../src/dev-chain/network.ts";
import { present } from "../../src/platform/present.ts";
import { connect } from "../../test-support/process/client.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { until } from "../../test-support/process/until.ts";

const people = deriveAccounts(
  "test test test test test test test test test test test junk",
  DEV_ADDRESS_VERSION,
);
/** Owner of a unik, a wallet that only received something, a delegate, and an account without a wallet. */
const [owner, cold, delegate, absent] = [
  people("account 0"),
  people("unused account"),
  people("delegate 0"),
  people("another unused account"),
];
const TOKEN = "interface-test";
const HEADERS = { authorization: TOKEN, "content-type": "application/json" };
const folder = mkdtempSync(join(tmpdir(), "uniknode-interface-"));

let node: Running;
let url: string;
/** Transfer to the cold wallet. */
let transfer: string;

type Received = { path: string; headers: Record<string, unknown>; body: Record<string, unknown> };
const received: Received[] = [];
const receiver = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Received["body"];
  received.push({ path: `${request.url}`, headers: request.headers, body });
  response.writeHead(204).end();
});
const targetOf = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;

beforeAll(async () => {
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  const args = ["dev", "--data", folder, "--http-port", "0", "--instant", "--webhook-token", TOKEN];
  node = spawnUniknode(args);
  url = await apiUrlOf(node);
  await node.printed(/Ctrl-C stops/);
  transfer = await send(transferTo(cold, 500n));
  const tokenId = "ab".repeat(32);
  await send((envelope) => builders.nftMint({ ...envelope, tokenId, properties: { type: "1" } }));
  await send((envelope) => builders.nftTransfer({ ...envelope, tokenId, recipientId: cold.address }));
});

afterAll(async () => {
  node.child.kill("SIGKILL");
  await node.ended;
  receiver.closeAllConnections();
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

type Envelope = Pick<Parameters<typeof builders.nftMint>[0], "network" | "senderPublicKey" | "nonce">;

/** Sends a transaction of the owner, and returns its id after a block contains it. */
async function send(build: (envelope: Envelope) => TransactionBody): Promise<string> {
  const { network, get, submit } = await connect(url);
  const nonce = BigInt(((await get(`/api/wallets/${owner.address}`)) as { nonce: string }).nonce) + 1n;
  const transaction = signTransaction(
    build({ network, senderPublicKey: owner.publicKey, nonce }),
    owner.keys,
  );
  expect((await submit([transaction])).accepted).toEqual([transaction.id]);
  await until(
    `no block contains ${transaction.id}`,
    async () => (await ask("GET", `/api/transactions/${transaction.id}`)).status === 200,
  );
  return transaction.id;
}

const transferTo =
  ({ address: recipientId }: DevAccount, amount: bigint) =>
  (envelope: Envelope) =>
    builders.transfer({ ...envelope, recipientId, amount, vendorField: "Tea for 42" });

type Given = { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };

async function ask(method: string, path: string, { headers = HEADERS, body }: Given = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    redirect: "manual",
    ...(text && { body: text }),
  });
  const content = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all routes
  const parsed: any = content === "" ? undefined : JSON.parse(content);
  return { status: response.status, text: content, body: parsed, headers: response.headers };
}

const text = { type: "string" };
const integer = { type: "integer" };
const boolean = { type: "boolean" };
const hex = { type: "string", pattern: "^[0-9a-f]{64}$" };
const key = { type: "string", pattern: "^0[23][0-9a-f]{64}$" };
const address = { type: "string", pattern: "^D[1-9A-HJ-NP-Za-km-z]{33}$" };
const digits = { type: "string", pattern: "^[0-9]+$" };
const link = { type: "string", pattern: "^/api/(?=.*[?&]page=[0-9]+)(?=.*[?&]limit=[0-9]+)" };
const orNull = (schema: object) => ({ anyOf: [schema, { type: "null" }] });
const list = (items: object) => ({ type: "array", items, minItems: 1 });
/** All members are required; responses can have more. */
const object = (properties: object) => ({ type: "object", properties, required: Object.keys(properties) });

const timestamp = object({
  ...{ epoch: integer, unix: integer },
  human: { type: "string", pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$` },
});
const chainmeta = object({ height: integer, timestamp });
const meta = object({
  ...{ count: integer, pageCount: integer, totalCount: integer },
  ...{ self: link, first: link, last: orNull(link), next: orNull(link), previous: orNull(link) },
});
const summary = object({ id: hex, ownerId: address });
const unikPage = object({
  meta: { allOf: [meta, object({ totalCountIsEstimate: boolean })] },
  data: list(summary),
});
const properties = list({
  type: "object",
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: text,
});
const wallet = object({
  data: object({
    ...{ address, publicKey: text, username: text, secondPublicKey: orNull(key) },
    ...{ balance: integer, isDelegate: boolean },
  }),
  chainmeta,
});
const transaction = (asset: object) =>
  object({
    data: object({
      ...{ id: hex, blockId: hex, type: integer, amount: integer, fee: integer, confirmations: integer },
      ...{ sender: address, recipient: address, signature: text, asset, timestamp },
    }),
    chainmeta,
  });
const unikAsset = object({
  nft: object({ unik: object({ tokenId: hex, properties: { type: "object", additionalProperties: text } }) }),
});
/** A delegate has a rank from the next round on, and a last block after its first one. */
const delegates = object({
  data: list({
    ...object({
      ...{ unikname: text, username: text, address, publicKey: key, vote: text },
      blocks: object({ produced: integer }),
      production: object({ approval: { type: "number" } }),
      forged: object({ fees: digits, rewards: digits, total: digits }),
    }),
  }),
});
const ranked = object({
  data: list(
    object({
      rank: integer,
      blocks: object({ last: object({ id: hex, height: integer, timestamp }) }),
    }),
  ),
});

const unik = `uniks/${owner.unikId}`;
const mint = async () => (await ask("GET", `/api/${unik}`)).body.data.transactions.first.id as string;

/** The path is below the prefix. */
const READS: readonly (readonly [
  sentence: string,
  path: string | (() => string | Promise<string>),
  schema: object,
])[] = [
  [
    "The counts of token types are texts.",
    "nfts/status",
    object({
      data: list(object({ nftName: text, individual: digits, organization: digits, network: digits })),
      chainmeta,
    }),
  ],
  ["A page of uniks has summaries, and says whether its total is estimated.", "uniks", unikPage],
  ["Page and limit are integers.", "uniks?page=2&limit=3", unikPage],
  [
    "A unik has its owner, its first and its last transaction.",
    unik,
    object({
      data: object({
        ...{ id: hex, ownerId: address },
        transactions: object({ first: object({ id: hex }), last: object({ id: hex }) }),
      }),
      chainmeta,
    }),
  ],
  [
    "A property in a list is an object with one member.",
    `${unik}/properties`,
    object({ meta, data: properties, chainmeta }),
  ],
  [
    "Lists of properties have pages.",
    `${unik}/properties?page=2&limit=2`,
    object({ meta, data: { ...properties, maxItems: 2 }, chainmeta }),
  ],
  ["A single property is its bare value.", `${unik}/properties/type`, object({ data: { const: "1" } })],
  ["A key with slashes is one segment.", `${unik}/properties/LifeCycle%2FStatus`, object({ data: text })],
  ["A wallet is found by its address.", `wallets/${owner.address}`, wallet],
  ["A wallet is found by its public key.", `wallets/${owner.publicKey}`, wallet],
  ["A cold wallet has all members.", `wallets/${cold.address}`, wallet],
  ["A cold wallet is found by its public key.", `wallets/${cold.publicKey}`, wallet],
  ["A delegate's wallet has a username.", `wallets/${delegate.address}`, wallet],
  [
    "Uniks of a wallet are found by its address.",
    `wallets/${owner.address}/uniks`,
    object({ data: list(summary) }),
  ],
  [
    "Uniks of a wallet are found by its public key.",
    `wallets/${owner.publicKey}/uniks`,
    object({ data: list(summary) }),
  ],
  [
    "Uniks of a cold wallet are found by its public key.",
    `wallets/${cold.publicKey}/uniks`,
    object({ data: { ...list(summary), maxItems: 1 } }),
  ],
  [
    "A wallet without uniks has an empty list.",
    `wallets/${absent.publicKey}/uniks`,
    object({ data: { type: "array", maxItems: 0 } }),
  ],
  [
    "A transfer has integers, texts and an asset.",
    () => `transactions/${transfer}`,
    transaction({ type: "object" }),
  ],
  [
    "A transaction of a unik names the token and its properties.",
    async () => `transactions/${await mint()}`,
    transaction(unikAsset),
  ],
  ["Delegates are listed.", "delegates", delegates],
  ["A delegate that forged has a rank and its last block.", "delegates?limit=1&orderBy=-5", ranked],
  [
    "Delegates are listed by offset, limit and a number as order.",
    "delegates?offset=1&limit=2&orderBy=1",
    delegates,
  ],
  [
    "The summary has the newest block and the supply.",
    "blockchain",
    object({ data: object({ block: object({ height: integer, id: hex }), supply: integer }) }),
  ],
];

type Links = Readonly<Record<"self" | "first" | "last", string> & Record<"next" | "previous", string | null>>;

const ajv = new Ajv2020({ strict: false, allErrors: true });

describe.each(["/api", "/api/v2"])("Reads below %s", (prefix) => {
  test.each(READS)("%s", async (_sentence, path, schema) => {
    const at = `${prefix}/${typeof path === "string" ? path : await path()}`;
    const isValid = ajv.compile(schema);
    // No header is needed; API-Version has no effect.
    for (const headers of [{}, { "api-version": "2" }, { "api-version": "3" }]) {
      const { status, body, headers: sent } = await ask("GET", at, { headers });
      expect([status, sent.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
      expect([isValid(body), isValid.errors, body]).toEqual([true, null, body]);
    }
    const head = await ask("HEAD", at, { headers: {} });
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  test.each([
    ["wallet", `wallets/${absent.address}`],
    ["unik", `uniks/${"0".repeat(64)}`],
    ["properties", `uniks/${"0".repeat(64)}/properties`],
    ["property", `${unik}/properties/none`],
    ["transaction", `transactions/${"0".repeat(64)}`],
  ])("An unknown %s is not found.", async (_what, path) => {
    const { status, body } = await ask("GET", `${prefix}/${path}`, { headers: {} });
    expect([status, body.statusCode]).toEqual([404, 404]);
  });

  test("Following the links of a page leads through the whole list, once in each direction.", async () => {
    const all = (await ask("GET", `${prefix}/uniks`)).body.data;
    const seen: unknown[] = [];
    let next: string | null = `${prefix}/uniks?limit=3`;
    for (let page = 1; next !== null; page++) {
      const { meta, data }: { meta: Links; data: unknown[] } = (await ask("GET", next)).body;
      seen.push(...data);
      expect(meta).toMatchObject({
        count: data.length,
        totalCount: all.length,
        pageCount: Math.ceil(all.length / 3),
      });
      expect((await ask("GET", meta.self)).body.data).toEqual(data);
      expect((await ask("GET", meta.first)).body.data).toEqual(seen.slice(0, 3));
      expect(meta.previous === null).toBe(page === 1);
      if (meta.previous !== null) {
        expect((await ask("GET", meta.previous)).body.data).toEqual(seen.slice(3 * page - 6, 3 * page - 3));
      }
      next = meta.next;
      if (next === null) expect((await ask("GET", meta.last)).body.data).toEqual(data);
    }
    expect(seen).toEqual(all);
  });

  test("Responses of the same state have the same chainmeta.", async () => {
    const paths = [
      "nfts/status",
      unik,
      `${unik}/properties`,
      `wallets/${owner.address}`,
      `transactions/${transfer}`,
    ];
    const found = await Promise.all(
      paths.map(async (path) => (await ask("GET", `${prefix}/${path}`)).body.chainmeta),
    );
    const { height } = (await ask("GET", `${prefix}/blockchain`)).body.data.block;
    expect(found.map((state) => state.height)).toEqual(paths.map(() => height));
    expect(new Set(found.map((state) => JSON.stringify(state))).size).toBe(1);
  });
});

const CONDITIONS = [{ key: "height", condition: "gte", value: "1" }];
const webhookOf = (changes: object = {}) => ({
  ...{ event: "block.applied", target: targetOf("/hook"), enabled: "true", conditions: CONDITIONS },
  ...changes,
});
const without = (name: string) => webhookOf({ [name]: undefined });
const condition = (changes: object) => webhookOf({ conditions: [{ ...CONDITIONS[0], ...changes }] });

const REFUSED: readonly (readonly [what: string, body: () => unknown])[] = [
  ["no event", () => without("event")],
  ["no target", () => without("target")],
  ["no conditions", () => without("conditions")],
  ["an empty list of conditions", () => webhookOf({ conditions: [] })],
  ["one condition instead of a list", () => webhookOf({ conditions: CONDITIONS[0] })],
  ["a condition without key", () => condition({ key: undefined })],
  ["a condition without operator", () => condition({ condition: undefined })],
  ["a condition without value", () => condition({ value: undefined })],
  ["an unknown operator", () => condition({ condition: "like" })],
  ["an event that is a number", () => webhookOf({ event: 1 })],
  ["an unknown event", () => webhookOf({ event: "block.nothing" })],
  ["a target that is no URL", () => webhookOf({ target: "receiver" })],
  ["enabled that is not a boolean", () => webhookOf({ enabled: "yes" })],
  ["a token", () => webhookOf({ token: "0".repeat(64) })],
  ["an unknown member", () => webhookOf({ other: 1 })],
  ["a list as body", () => [webhookOf()]],
  ["text that is no JSON", () => "{"],
];

describe.each(["/api", "/api/v2"])("The register below %s", (prefix) => {
  const path = `${prefix}/webhooks`;

  test("The register creates, lists, retrieves, updates and deletes with exactly the members of the document.", async () => {
    const created = await ask("POST", path, { body: webhookOf({ enabled: "false" }) });
    const { token, ...webhook } = created.body.data;
    expect([created.status, Object.keys(created.body)]).toEqual([201, ["data"]]);
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(webhook).toEqual({ ...webhookOf(), id: expect.any(Number), enabled: false });
    expect(Number.isInteger(webhook.id)).toBe(true);
    const own = `${path}/${webhook.id}`;
    const shown = async () => (await ask("GET", own)).body;
    expect(await shown()).toEqual({ data: webhook });
    const { meta, data } = (await ask("GET", path)).body;
    expect(data).toEqual([webhook]);
    const self = "/api/v2/webhooks?page=1&limit=100";
    expect(meta).toEqual({
      ...{ count: 1, pageCount: 1, totalCount: 1, next: null, previous: null },
      ...{ self, first: self, last: self },
    });
    const changes = [
      { enabled: "true" },
      { event: "block.forged" },
      { target: targetOf("/other") },
      { conditions: [{ key: "height", condition: "lt", value: "9" }] },
      { enabled: "false", event: "transaction.applied" },
      {},
    ];
    let expected = webhook;
    for (const body of changes) {
      const { status, text } = await ask("PUT", own, { body });
      expect([status, text]).toEqual([200, "{}"]);
      expected = { ...expected, ...body, enabled: body.enabled ? body.enabled === "true" : expected.enabled };
      expect(await shown()).toEqual({ data: expected });
    }
    const removed = await ask("DELETE", own);
    expect([removed.status, removed.text]).toEqual([200, "{}"]);
    for (const method of ["GET", "PUT", "DELETE"]) {
      expect([method, (await ask(method, own, method === "PUT" ? { body: {} } : {})).status]).toEqual([
        method,
        404,
      ]);
    }
    expect((await ask("GET", path)).body).toMatchObject({ data: [], meta: { count: 0, totalCount: 0 } });
  });

  test.each(REFUSED)(
    "The register refuses a registration with %s, and registers nothing.",
    async (_what, body) => {
      expect((await ask("POST", path, { body: body() })).status).toBe(422);
      expect((await ask("GET", path)).body.data).toEqual([]);
    },
  );

  test("The register lists enabled and disabled webhooks on pages of integers.", async () => {
    const ids: number[] = [];
    for (const enabled of ["true", "false", "true"]) {
      ids.push((await ask("POST", path, { body: webhookOf({ enabled }) })).body.data.id);
    }
    const { meta, data } = (await ask("GET", `${path}?page=2&limit=2`)).body;
    expect(data.map(({ id }: { id: number }) => id)).toEqual(ids.slice(2));
    expect(meta).toEqual({
      ...{ count: 1, pageCount: 2, totalCount: 3, next: null },
      ...{ self: "/api/v2/webhooks?page=2&limit=2", previous: "/api/v2/webhooks?page=1&limit=2" },
      ...{ first: "/api/v2/webhooks?page=1&limit=2", last: "/api/v2/webhooks?page=2&limit=2" },
    });
    expect((await ask("GET", path)).body.data.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual([
      true,
      false,
      true,
    ]);
    for (const id of ids) await ask("DELETE", `${path}/${id}`);
  });

  test("The register gives 401 for a wrong token on every operation, whatever else is wrong.", async () => {
    for (const [method, at] of [
      ["GET", path],
      ["POST", path],
      ["GET", `${path}/1`],
      ["PUT", `${path}/1`],
      ["DELETE", `${path}/1`],
    ] as const) {
      for (const authorization of ["wrong", "", TOKEN.slice(0, -1), `${TOKEN}x`]) {
        const body = method === "POST" || method === "PUT" ? { body: "{" } : {};
        const { status } = await ask(method, at, { headers: { ...HEADERS, authorization }, ...body });
        expect([method, at, authorization, status]).toEqual([method, at, authorization, 401]);
      }
    }
  });

  test("The register refuses bodies without the content type.", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const headers = { ...HEADERS, "content-type": type };
      expect((await ask("POST", path, { headers, body: webhookOf() })).status).toBe(415);
      expect((await ask("PUT", `${path}/1`, { headers, body: {} })).status).toBe(415);
    }
  });
});

test.each([
  ...["block.applied", "block.disregarded", "block.forged", "block.received", "block.reverted"],
  ...["delegate.registered", "delegate.resigned", "forger.failed", "forger.missing", "forger.started"],
  ...["peer.added", "peer.removed", "round.created", "state:started"],
  ...["transaction.applied", "transaction.expired", "transaction.forged", "transaction.pool.added"],
  ...["transaction.pool.rejected", "transaction.pool.removed", "transaction.reverted"],
  ...["wallet.saved", "wallet.created.cold"],
])("A webhook can name the event %s.", async (event) => {
  const { status, body } = await ask("POST", "/api/webhooks", { body: webhookOf({ event }) });
  expect([status, body.data.event]).toEqual([201, event]);
  expect((await ask("DELETE", `/api/webhooks/${body.data.id}`)).text).toBe("{}");
});

/**
 * Operators, each with a member, operands that hold and operands that do not: for a transfer of 700 (`amount` is a text of
 * digits, `type` the number 0), and for the wallet that it creates (`isDelegate` is false). No content has a member `none`.
 */
const OPERATORS: Readonly<Record<string, readonly (readonly [string, string, unknown[], unknown[]])[]>> = {
  "transaction.applied": [
    ["eq", "amount", ["700"], ["70", "7000", "x"]],
    ["eq", "type", ["0"], ["1", ""]],
    ["eq", "vendorField", ["Tea for 42"], ["Tea", "tea for 42"]],
    ["eq", "none", [], ["", "undefined", "null"]],
    ["ne", "amount", ["701"], ["700"]],
    ["ne", "none", ["700"], []],
    ["gt", "amount", ["699"], ["700", "701"]],
    ["gte", "amount", ["699", "700"], ["701"]],
    ["lt", "amount", ["701"], ["700", "699"]],
    ["lte", "amount", ["701", "700"], ["699"]],
    ["gt", "vendorField", [], ["1"]],
    ["gte", "none", [], ["0"]],
    [
      "between",
      "amount",
      ['{"min":"699","max":"701"}', { min: 1, max: 1000 }],
      ['{"min":"701","max":"800"}'],
    ],
    ["not-between", "amount", ['{"min":"701","max":"800"}', { min: 1, max: 2 }], ['{"min":"1","max":"701"}']],
    ["between", "none", [], [{ min: 0, max: 9 }]],
    ["contains", "vendorField", ["for", "42"], ["coffee"]],
    ["contains", "none", [], ["a"]],
    ["regexp", "vendorField", ["^Tea", "[0-9]{2}$"], ["^for"]],
    ["regexp", "type", ["^0$"], ["1"]],
    ["regexp", "none", [], ["."]],
    ["truthy", "amount", [], [""]],
    ["truthy", "none", [], [""]],
    ["falsy", "none", [], [""]],
  ],
  "wallet.created.cold": [
    ["truthy", "isDelegate", [], [""]],
    ["falsy", "isDelegate", [""], []],
    ["eq", "isDelegate", ["false"], ["true"]],
    ["ne", "isDelegate", ["true"], ["false"]],
    ["eq", "balance", ["700"], ["7"]],
  ],
  // The wallet of the delegate that forged the block is saved, too.
  "wallet.saved": [["truthy", "isDelegate", [""], []]],
};

test("A condition fires as its operator means, one true condition is enough, and a disabled webhook never fires.", async () => {
  const expected: string[] = [];
  const silent: number[] = [];
  const register = async (isFiring: boolean, changes: object) => {
    const path = `/${expected.length}`;
    const body = webhookOf({ event: "transaction.applied", target: targetOf(path), ...changes });
    const created = await ask("POST", "/api/webhooks", { body });
    expect([created.status, created.text]).toEqual([201, created.text]);
    if (isFiring) expected.push(path);
    else silent.push(created.body.data.id);
    return created.body.data;
  };
  for (const [event, rows] of Object.entries(OPERATORS)) {
    for (const [condition, key, holds, fails] of rows) {
      for (const value of holds) await register(true, { event, conditions: [{ key, condition, value }] });
      for (const value of fails) await register(false, { event, conditions: [{ key, condition, value }] });
    }
  }
  const no = { key: "amount", condition: "eq", value: "1" };
  await register(true, { conditions: [no, EVERY_EVENT] });
  await register(false, { conditions: [no, no] });
  await register(false, { conditions: [EVERY_EVENT], enabled: "false" });
  // The last event of a block: deliveries are created in the order of events.
  const last = await register(true, { event: "block.applied", conditions: [EVERY_EVENT] });

  await send(transferTo(absent, 700n));
  await expect.poll(() => received.map(({ path }) => path)).toEqual(expect.arrayContaining(expected));
  for (const id of silent) {
    expect([id, (await ask("GET", `/api/webhooks/${id}/deliveries`)).body.data]).toEqual([id, []]);
  }

  const delivery = present(received.find(({ body }) => body.webhookId === last.id));
  expect(delivery.headers).toMatchObject({ "content-type": "application/json" });
  expect(`${delivery.headers.authorization}${last.token.slice(32)}`).toBe(last.token);
  expect(delivery.body).toMatchObject({
    ...{ timestamp: expect.any(Number), event: "block.applied" },
    data: { height: expect.any(Number), numberOfTransactions: 1 },
  });
});

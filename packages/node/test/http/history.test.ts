/** Earlier states over HTTP: each response equals that of a node whose chain ends at the height. */
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HttpServer } from "../../src/http/server/server.ts";
import { SqliteReadModel } from "../../src/read/sqlite/read-model.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import {
  blocksOf,
  type OpenChain,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { checkResponses } from "../../test-support/http/described.ts";
import { createGateway, identity } from "../../test-support/http/fixture.ts";

const content = readChain("chain-1");
const network = createNetwork(content.network);
const blocks = blocksOf(content);
/** Height of the first recorded block. */
const SINCE = 11;
const HEAD = blocks.length + 1;

const folder = temporaryFolder();
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
  folder.remove();
});

/** Serves a chain. */
async function serve({ close }: OpenChain, path: string) {
  const database = openDatabase(path, { readonly: true });
  const readModel = new SqliteReadModel({}, { database, network });
  const server = new HttpServer(
    { host: "127.0.0.1", port: 0 },
    {
      ...{ readModel, network, identity, plugins: [], nowMs: Date.now },
      ...{ gateway: createGateway(), logger: pino({ level: "silent" }) },
    },
  );
  checkResponses(server.app);
  closing.push(
    close,
    async () => database.close(),
    () => server.close(),
  );
  return async (url: string) => {
    const { statusCode: status, body: text, headers } = await server.app.inject(`/api/v2${url}`);
    return { status, text, code: headers["error-code"] };
  };
}

type Get = Awaited<ReturnType<typeof serve>>;

let full: Get;
/** A node without history, whose head the tests move. */
let silent: Get;
let silentChain: OpenChain;
beforeAll(async () => {
  const path = `${folder.path}/full.sqlite`;
  const before = openChain(content, path);
  await before.chain.accept(blocks.slice(0, SINCE - 1));
  await before.close();
  const recording = openChain(content, path, { recordsHistory: true });
  await recording.chain.accept(blocks.slice(SINCE - 1));
  full = await serve(recording, path);
  silentChain = openChain(content, `${folder.path}/silent.sqlite`);
  await silentChain.chain.accept(blocks.slice(0, SINCE - 1));
  silent = await serve(silentChain, `${folder.path}/silent.sqlite`);
});

const json = ({ text }: { text: string }) => JSON.parse(text);

/** Paths of everything that the whole chain contains. */
async function paths(): Promise<string[]> {
  const dataOf = async (path: string) => json(await full(path)).data as Record<string, string>[];
  const tokens = await dataOf("/uniks");
  const [wallets, delegates] = [await dataOf("/wallets"), await dataOf("/delegates")];
  // Each key of one token: the lists have all of them.
  const properties = new Map<string, string>();
  for (const { id } of tokens) {
    for (const key of (await dataOf(`/uniks/${id}/properties`)).flatMap(Object.keys)) {
      properties.set(key, `/uniks/${id}/properties/${encodeURIComponent(key)}`);
    }
  }
  return [
    ...wallets.map(({ address, publicKey }, index) => `/wallets/${(index % 2 && publicKey) || address}`),
    ...tokens.flatMap(({ id }, index) => [
      `/${index % 2 === 0 ? "uniks" : "nfts"}/${id}`,
      `/uniks/${id}/properties`,
    ]),
    ...properties.values(),
    ...delegates.map(({ username, address }, index) => `/delegates/${index % 2 === 0 ? username : address}`),
  ];
}

/** The part of a response that does not name the head or the path. */
const contentOf = ({ status, text }: { status: number; text: string }) => {
  const { data, message } = JSON.parse(text);
  return { status, data, message };
};

test("Wallets, uniks and delegates at a height are those of a node whose chain ends there.", async () => {
  const all = await paths();
  const statuses = new Set<number>();
  for (const height of [SINCE, 40, 77, HEAD]) {
    await silentChain.chain.accept(blocks.slice(silentChain.chain.head().height - 1, height - 1));
    for (const path of all) {
      const [past, present] = [await full(`${path}?at=${height}`), await silent(path)];
      expect(contentOf(past), `${path} at ${height}`).toEqual(contentOf(present));
      statuses.add(past.status);
    }
  }
  expect(statuses).toEqual(new Set([200, 404]));
});

test("The text of a wallet is the same, byte for byte.", async () => {
  const [{ address }] = json(await full("/wallets")).data;
  expect((await full(`/wallets/${address}?at=${HEAD}`)).text).toBe((await full(`/wallets/${address}`)).text);
});

test("The balances of a wallet are listed newest first, in pages and between heights.", async () => {
  const [{ address }] = json(await full("/wallets")).data;
  const { meta, data } = json(await full(`/wallets/${address}/history`));
  expect(data.length).toBeGreaterThan(2);
  expect(meta.totalCount).toBe(data.length);
  for (const { height, balance, timestamp } of data) {
    const wallet = await full(`/wallets/${address}?at=${height}`);
    expect(wallet.text).toContain(`"balance":${balance},`);
    const block = json(await full(`/blocks/${height}`));
    expect(timestamp).toEqual(block.data.timestamp);
  }
  const heights = data.map(({ height }: { height: number }) => height);
  expect(heights).toEqual(heights.toSorted((one: number, other: number) => other - one));
  const ascending = json(await full(`/wallets/${address}/history?orderBy=height:asc`)).data;
  expect(ascending).toEqual(data.toReversed());
  const some = json(await full(`/wallets/${address}/history?from=${heights[2]}&to=${heights[1]}`)).data;
  expect(some).toEqual(data.slice(1, 3));
  expect(json(await full(`/wallets/${address}/history?page=2&limit=1`)).data).toEqual([data[1]]);
  const walked: unknown[] = [];
  for (let cursor = "start"; cursor !== null; ) {
    const page = json(await full(`/wallets/${address}/history?limit=2&cursor=${cursor}`));
    walked.push(...page.data);
    cursor = page.meta.nextCursor;
  }
  expect(walked).toEqual(data);
});

const unknownWallet = `/wallets/${"D".repeat(34)}`;

test.each([
  [`${unknownWallet}?at=${SINCE}`, 404, "WALLET_UNKNOWN", /not found/],
  [`${unknownWallet}/history`, 404, "WALLET_UNKNOWN", /not found/],
  [`${unknownWallet}?at=${SINCE - 1}`, 404, "STATE_UNKNOWN", `blocks ${SINCE} to ${HEAD}, not after`],
  [`${unknownWallet}?at=${HEAD + 1}`, 404, "STATE_UNKNOWN", `not after ${HEAD + 1}`],
  [`${unknownWallet}?at=0`, 422, "INVALID_MEMBER", /"at" must be an integer/],
  [`/uniks/${"a".repeat(64)}?at=x`, 400, "INVALID_MEMBER", /"at" must be an integer/],
  [`${unknownWallet}?foo=1`, 404, "WALLET_UNKNOWN", /not found/],
])("%s is refused with %s", async (path, status, code, message) => {
  const response = await full(path);
  expect(response).toMatchObject({ status, code });
  expect(json(response).message).toMatch(message);
});

test("The configuration of the node has the beginning of its history.", async () => {
  expect(json(await full("/node/configuration")).data.history).toEqual({ since: SINCE });
  expect(json(await silent("/node/configuration")).data).not.toHaveProperty("history");
});

test("A node without history responds with the next step.", async () => {
  for (const path of [`/uniks/${"a".repeat(64)}?at=1`, `${unknownWallet}/history`, "/delegates/a?at=1"]) {
    const response = await silent(path);
    expect(response).toMatchObject({ status: 409, code: "HISTORY_UNAVAILABLE" });
    expect(json(response).message).toContain("--history full");
  }
});

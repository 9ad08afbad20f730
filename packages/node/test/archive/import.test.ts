/** Imports into the folder of a node that recorded more than its chain. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createNetwork, createSlots } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importBlocks } from "../../src/archive/import.ts";
import { exportBlocks } from "../../src/archive/stream.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import {
  CopiedEvents,
  RemoteNameStore,
  SubscribedEventStore,
} from "../../src/store/events/subscribed-events.ts";
import { OwnerStore } from "../../src/webhooks/sqlite/hand-over/owner.ts";
import { type Archived, archiveFixture } from "../../test-support/archive/fixture.ts";
import { blocksOf, dumpOf, openChain } from "../../test-support/chain/fixtures.ts";

/** Height at which the node stopped; it logged one event for each of its blocks. */
const STOPPED = 20;
const LOGGED = STOPPED - 1;
const DAY_SECONDS = 86_400;

let archived: Archived;
let names = 0;
beforeAll(async () => {
  archived = await archiveFixture("chain-random-1");
});
afterAll(() => archived.remove());

/** Creates the folder of a node that recorded earlier states and changes for mirrors. Returns its path. */
async function nodeFolder(
  height: number,
  { logged = ["block.applied"], prepare = (_: Database) => {} } = {},
): Promise<string> {
  const data = join(archived.folder, `node-${names++}`);
  mkdirSync(data, { mode: 0o700 });
  const { chain, database, close } = openChain(archived.content, join(data, "node.sqlite"), {
    ...{ recordsHistory: true, feedBlocks: 1_000, recordedNames: new Set(logged) },
  });
  await chain.accept(blocksOf(archived.content).slice(0, height - 1));
  prepare(database);
  await close();
  return data;
}

const load = (data: string, { from = 2, to = archived.height, nowMs = archived.deps.nowMs } = {}) => {
  const { network } = archived.deps;
  const blocks = exportBlocks({ data: archived.data, network, from, to, onProgress: () => {} });
  return importBlocks(blocks, data, { ...archived.deps, nowMs });
};

function read<T>(data: string, work: (database: Database) => T): T {
  const database = openDatabase(join(data, "node.sqlite"), { readonly: true });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const eventsIn = (data: string, from: number) =>
  read(data, (database) =>
    database
      .prepare<{ id: string }>("SELECT id FROM events WHERE height >= ? ORDER BY sequence")
      .all(from)
      .map(({ id }) => id),
  );

test("An import continues the earlier states and the changes for mirrors.", async () => {
  const data = await nodeFolder(STOPPED);
  await load(data);
  expect(read(data, dumpOf)).toEqual(read(await nodeFolder(archived.height), dumpOf));
});

test("An import that is refused or adds nothing keeps the earlier states and the changes for mirrors.", async () => {
  const data = await nodeFolder(STOPPED);
  const before = read(data, dumpOf);
  await expect(load(data, { from: STOPPED + 2 })).rejects.toMatchObject({ code: "ARCHIVE_MISSING" });
  expect(await load(data, { to: STOPPED })).toMatchObject({ accepted: 0 });
  expect(read(data, dumpOf)).toEqual(before);
});

const addWebhook = (database: Database) =>
  database.execute(
    `INSERT INTO webhooks (event, events, target, enabled, conditions, match_all, strict, confirmations, token, active_after)
     VALUES ('wallet.saved', '[]', 'http://127.0.0.1', 1, '[]', 1, 0, 0, 'secret', 0)`,
  );

/** Live streams, and webhooks of delivery workers, subscribe to a name each. The webhook of the folder was handed over to them. */
const prepare = (database: Database) => {
  addWebhook(database);
  new SubscribedEventStore(database).set("block.applied", 0);
  new RemoteNameStore(database, new CopiedEvents(database)).replace(["transaction.applied"]);
  new OwnerStore(database).write({ state: "workers", transfer: "1" });
};
const SUBSCRIBED = ["block.applied", "transaction.applied"];
const sinceIn = (data: string) => read(data, (database) => new SubscribedEventStore(database).all());

/** Returns a clock of the time that is this many seconds after a block. */
function clockAfter(height: number, seconds: number): () => number {
  const { timestamp } = archived.content.blocks[height - 2];
  const ms = createSlots(createNetwork(archived.content.network)).unixMsOf(timestamp + seconds);
  return () => ms;
}

test("An import logs the events of live streams and delivery workers.", async () => {
  const data = await nodeFolder(STOPPED, { prepare });
  await load(data, { nowMs: clockAfter(archived.height, 0) });
  const peers = eventsIn(await nodeFolder(archived.height, { logged: SUBSCRIBED }), STOPPED + 1);
  expect(new Set(peers.map((id) => id.split(":")[0]))).toEqual(new Set(SUBSCRIBED));
  expect(eventsIn(data, STOPPED + 1)).toEqual(peers);
  expect(sinceIn(data)).toEqual(new Map([["block.applied", 0]]));
});

test("An import logs the events of the webhooks of the folder.", async () => {
  const data = await nodeFolder(STOPPED, { prepare: addWebhook });
  await load(data, { nowMs: clockAfter(archived.height, 0) });
  const peers = eventsIn(await nodeFolder(archived.height, { logged: ["wallet.saved"] }), STOPPED + 1);
  expect(eventsIn(data, STOPPED + 1)).toEqual(peers);
});

test("An import logs no events of blocks older than a day, and marks the gap.", async () => {
  const data = await nodeFolder(STOPPED, { prepare });
  const young = 50;
  await load(data, { nowMs: clockAfter(young, DAY_SECONDS) });
  const peers = eventsIn(await nodeFolder(archived.height, { logged: SUBSCRIBED }), young);
  expect(eventsIn(data, STOPPED + 1)).toEqual(peers);
  expect(sinceIn(data)).toEqual(new Map([["block.applied", LOGGED]]));
});

/** The feed has the blocks of the chain and the records that they wrote (docs/spec/feed.md). */
import assert from "node:assert";
import { hash } from "node:crypto";
import {
  type Change,
  createMemoryState,
  type MemoryState,
  TABLE_NAMES,
  type TableName,
} from "@uniknode/ledger";
import { blockToJson, createNetwork } from "@uniknode/protocol";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { receiveBlock } from "../../src/chain/pipeline/receive.ts";
import { Growth } from "../../src/facts/growth.ts";
import { SqliteFactReader } from "../../src/facts/sqlite/reader.ts";
import { DEFAULT_FEED_OPTIONS, Feed, type FeedResponse } from "../../src/feed/feed.ts";
import type { Position } from "../../src/feed/line.ts";
import { FeedReader } from "../../src/feed/reader.ts";
import { openStateRows } from "../../src/feed/state-rows.ts";
import { BlockStore } from "../../src/store/chain/blocks.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { fromMembers } from "../../src/store/state/json.ts";
import {
  blocksOf,
  type OpenChain,
  openChain,
  readChain,
  stateInFile,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { feedLogOf } from "../../test-support/feed/log.ts";

const content = readChain("chain-random-1");
const blocks = blocksOf(content);
const network = createNetwork(content.network);
const last = blocks.length + 1;

type Record = [table: TableName, key: string, ...members: unknown[]];
type Line = {
  readonly height: number;
  readonly id: string;
  readonly parent: string;
  readonly block: string;
  readonly changes?: Record[];
  readonly back?: Position;
  readonly state?: Position;
  readonly rows?: Record[];
  readonly end?: number;
  readonly checkpoint?: object;
  readonly log?: object;
};

let folder: ReturnType<typeof temporaryFolder>;
let opened: OpenChain;
let feed: Feed;

beforeEach(async () => {
  folder = temporaryFolder();
  open({ feedBlocks: 1_000 });
  await opened.chain.accept(blocks);
});
afterEach(async () => {
  await opened.close();
  folder.remove();
});

function open(options: { feedBlocks: number }) {
  const path = `${folder.path}/node.sqlite`;
  opened = openChain(content, path, options);
  feed = new Feed(
    { ...DEFAULT_FEED_OPTIONS, heartbeatMs: 20 },
    {
      reader: new FeedReader(opened.database),
      openState: () => openStateRows(path),
      facts: new SqliteFactReader(opened.database, network),
      ...feedLogOf(opened.database),
    },
  );
}

/** Reads lines until the response ends, or until it has this many blocks. */
async function linesOf(response: FeedResponse, count = Number.POSITIVE_INFINITY): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const part of response.text) {
    for (const line of part.split("\n").filter((text) => text !== "")) {
      const [digest, json = ""] = [line.slice(0, 64), line.slice(65)];
      expect(digest).toBe(hash("sha256", json, "hex"));
      lines.push(JSON.parse(json));
    }
    if (lines.length >= count) break;
  }
  response.release();
  return lines;
}

const positionAt = (height: number): Position => {
  const header = opened.chain.blocks.header(height);
  assert(header);
  return { height, id: header.id };
};

const toChanges = (records: readonly Record[]): Change[] =>
  records.map(
    ([table, key, ...members]) =>
      ({ table, key, before: undefined, after: fromMembers(table, key, members) }) as Change,
  );

const tablesOf = (state: MemoryState) =>
  TABLE_NAMES.map((table) => [table, state.entries(table).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** State after the genesis block, as a new mirror receives it. */
async function stateAtGenesis(): Promise<MemoryState> {
  const fresh = openChain(content, `${folder.path}/genesis.sqlite`, {});
  const state = stateInFile(fresh.database);
  await fresh.close();
  return state;
}

test("The changes of all blocks transform the state of the genesis block into that of the chain.", async () => {
  const state = await stateAtGenesis();
  const lines = await linesOf(feed.follow([positionAt(1)]), last - 1);
  expect(lines.map(({ height }) => height)).toEqual(
    Array.from({ length: last - 1 }, (_, index) => index + 2),
  );
  for (const { changes } of lines) state.commit(toChanges(changes ?? []));
  expect(tablesOf(state)).toEqual(tablesOf(stateInFile(opened.database)));
});

test("A block of the feed is that of the chain, with its parent.", async () => {
  const lines = await linesOf(feed.follow([positionAt(1)]), last - 1);
  for (const { height, id, parent, block } of lines) {
    const received = receiveBlock(Buffer.from(block, "base64"), network);
    const stored = opened.chain.blocks.block(height);
    assert(stored);
    expect(blockToJson(received)).toEqual(blockToJson(stored));
    expect({ id, parent }).toEqual({ id: stored.header.id, parent: positionAt(height - 1).id });
  }
});

test("A part of the feed ends with the block that exceeds its size, and no later block is read for it.", () => {
  const { bytes } = BlockStore.prototype;
  const read: number[] = [];
  const spy = vi.spyOn(BlockStore.prototype, "bytes").mockImplementation(function (
    this: BlockStore,
    from,
    to,
  ) {
    const found = bytes.call(this, from, to);
    read.push(...found.map(({ height }) => height));
    return found.map((block) => ({ ...block, transactions: [new Uint8Array(200 * 1024)] }));
  });
  onTestFinished(() => spy.mockRestore());
  const part = new FeedReader(opened.database).readBlocks(1, last);
  expect(part?.last).toEqual(positionAt(3));
  expect(read).toEqual([2, 3]);
});

test("The rows of the state, and the blocks below it, make a mirror complete.", async () => {
  const [first, ...others] = await linesOf(feed.state());
  expect(first).toEqual({ state: positionAt(last) });
  const rows = others.flatMap(({ rows = [] }) => rows);
  expect(others.at(-1)).toEqual({ end: rows.length });
  const state = createMemoryState();
  state.commit(toChanges(rows));
  expect(tablesOf(state)).toEqual(tablesOf(stateInFile(opened.database)));

  const found = await linesOf(feed.blocks(0, last));
  expect(found.at(-1)).toEqual({ end: last });
  expect(found.slice(0, -1).map(({ id, parent }) => [parent, id])).toEqual(
    Array.from({ length: last }, (_, index) => [
      index === 0 ? "0" : positionAt(index).id,
      positionAt(index + 1).id,
    ]),
  );
});

test("The tree of final facts follows the blocks at the head, once after it has grown.", async () => {
  const growth = new Growth({ database: opened.database, network, onTruncated: () => {} });
  while (growth.step(Number.POSITIVE_INFINITY));
  const { size, root, block } = await new SqliteFactReader(opened.database, network).checkpoint();
  const checkpoint = { ...block, version: 3, size, root: Buffer.from(root).toString("hex") };
  const response = feed.follow([positionAt(last - 1)]);
  const parts: string[] = [];
  for await (const part of response.text) {
    parts.push(part);
    if (parts.length === 4) break;
  }
  response.release();
  expect(JSON.parse(`${parts[0]?.slice(65)}`)).toMatchObject({ height: last });
  expect(JSON.parse(`${parts[1]?.slice(65)}`)).toEqual({ checkpoint });
  expect(parts.slice(2)).toEqual(["\n", "\n"]);
});

test("The newest event of the log follows the blocks at the head, once after each change.", async () => {
  const events = new EventLog(opened.database, { recordedNames: () => new Set(["peer.added"]) });
  const log = (id: string) => opened.database.transaction(() => events.append([{ id, name: "peer.added" }]));
  const markOf = (sequence: number) => ({ log: { ...positionAt(last), sequence } });
  log("a");
  const response = feed.follow([positionAt(1)]);
  const lines: Line[] = [];
  for await (const part of response.text) {
    for (const line of part.split("\n").filter((text) => text !== "")) lines.push(JSON.parse(line.slice(65)));
    if (lines.length === last && part === "\n") {
      log("b");
      log("c");
      feed.notify();
    }
    if (lines.length > last && part === "\n") break;
  }
  response.release();
  expect(lines.slice(last - 2)).toEqual([expect.objectContaining({ height: last }), markOf(1), markOf(3)]);
});

test("A block that is committed later follows at once, after heartbeats.", async () => {
  await opened.chain.revertTo(last - 1);
  const response = feed.follow([positionAt(last - 1)]);
  const parts: string[] = [];
  const reading = (async () => {
    for await (const part of response.text) {
      parts.push(part);
      if (part !== "\n") break;
    }
  })();
  await expect.poll(() => parts.length).toBeGreaterThan(1);
  expect(new Set(parts)).toEqual(new Set(["\n"]));
  await opened.chain.accept(blocks.slice(-1));
  feed.notify();
  await reading;
  expect(parts.at(-1)).toContain(`"height":${last}`);
});

test("After a revert, the response ends, and the next one names the block to return to.", async () => {
  const positions = [last, last - 1, last - 2, last - 4].map(positionAt);
  const response = feed.follow(positions);
  const reading = linesOf(response);
  await opened.chain.revertTo(last - 3);
  feed.notify();
  expect(await reading).toEqual([]);
  const [back, next] = await Promise.all([
    linesOf(feed.follow(positions), 1),
    linesOf(feed.follow(positions), 2),
  ]);
  expect(back[0]).toEqual({ back: positions[3] });
  expect(next[1]).toMatchObject({ height: last - 3, parent: positions[3]?.id });
});

test("A mirror whose blocks are unknown, or too old, must be built again.", async () => {
  const gone = expect.objectContaining({ code: "FEED_GONE", isRetryable: false });
  expect(() => feed.follow([{ height: 5, id: "0".repeat(64) }])).toThrow(gone);
  const oldest = positionAt(1);
  opened.database.execute("DELETE FROM feed_changes WHERE height < 10");
  expect(() => feed.follow([oldest])).toThrow(gone);
  expect((await linesOf(feed.follow([positionAt(9)]), 1))[0]).toMatchObject({ height: 10 });
});

test("Changes are kept for the last blocks only, and have no gap after a start without the feed.", async () => {
  await opened.close();
  open({ feedBlocks: 5 });
  await opened.chain.revertTo(last - 2);
  await opened.chain.accept(blocks.slice(-2));
  const heights = () =>
    opened.database.prepare<{ height: number }>("SELECT height FROM feed_changes ORDER BY height").all();
  expect(heights().map(({ height }) => last - height)).toEqual([4, 3, 2, 1, 0]);
  await opened.close();
  open({ feedBlocks: 0 });
  expect(heights()).toEqual([]);
  await opened.close();
  open({ feedBlocks: 5 });
  expect(heights()).toEqual([]);
  expect((await linesOf(feed.follow([positionAt(last)]), 0)).length).toBe(0);
});

test("The number of open responses has a bound, and an abandoned one is released.", async () => {
  const { maxOpen } = DEFAULT_FEED_OPTIONS;
  const responses = Array.from({ length: maxOpen }, () => feed.blocks(0, 1));
  expect(() => feed.blocks(0, 1)).toThrow(expect.objectContaining({ code: "FEED_FULL", isRetryable: true }));
  expect(feed.figures().open).toBe(maxOpen);
  for (const response of responses) {
    response.release();
    response.release();
  }
  expect(feed.figures().open).toBe(0);
});

test("Closing the feed ends every response.", async () => {
  const reading = linesOf(feed.follow([positionAt(last)]));
  feed.close();
  expect(await reading).toEqual([]);
});

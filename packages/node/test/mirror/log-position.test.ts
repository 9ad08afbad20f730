/** The position of the node's log up to which the blocks of a mirror reflect every retraction (docs/decisions/0053). */
import assert from "node:assert";
import { createNetwork } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_FEED_OPTIONS, Feed } from "../../src/feed/feed.ts";
import { FeedReader } from "../../src/feed/reader.ts";
import { openStateRows } from "../../src/feed/state-rows.ts";
import { bootstrap } from "../../src/mirror/bootstrap.ts";
import { follow } from "../../src/mirror/follow.ts";
import { takeLease } from "../../src/mirror/head.ts";
import type { FeedLine } from "../../src/mirror/line.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { migrate } from "../../src/postgres/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import {
  blocksOf,
  type OpenChain,
  openChain,
  readChain,
  temporaryFolder,
} from "../../test-support/chain/fixtures.ts";
import { feedLogOf } from "../../test-support/feed/log.ts";
import { clientOf, type LocalClient } from "../../test-support/mirror/feed-client.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const databases = useDatabases();
const content = readChain("chain-1");
const blocks = blocksOf(content);
const network = createNetwork(content.network);

let folder: ReturnType<typeof temporaryFolder>;
let postgres: Postgres;
let node: OpenChain;
let feed: Feed;
let epoch: number;

beforeEach(async () => {
  if (!hasPostgres) return;
  folder = temporaryFolder();
  postgres = await databases.connect();
  await migrate(postgres);
  const path = `${folder.path}/node.sqlite`;
  node = openChain(content, path, { feedBlocks: 1_000 });
  await node.chain.accept(blocks.slice(0, 10));
  feed = new Feed(
    { ...DEFAULT_FEED_OPTIONS, heartbeatMs: 10 },
    {
      reader: new FeedReader(node.database),
      openState: () => openStateRows(path),
      facts: { checkpoint: async () => ({ size: 0, root: new Uint8Array(32) }) },
      ...feedLogOf(node.database),
    },
  );
  epoch = await lease();
  await bootstrap({ height: 0, id: "0" }, deps());
});
afterEach(async () => {
  if (!hasPostgres) return;
  await postgres.close();
  await node.close();
  folder.remove();
});

async function lease(): Promise<number> {
  const head = await takeLease(postgres, { nethash: network.description.nethash, owner: "mirror" });
  assert(head);
  return head.epoch;
}

const deps = (client: LocalClient = clientOf(feed)) => ({
  ...{ postgres, epoch, feed: client, network, undoDepth: 1_000 },
  signal: new AbortController().signal,
  onProgress: () => {},
  onHead: () => {},
  onFacts: () => {},
  logger: pino({ level: "silent" }),
});

/** Follows the feed until a line has been written. */
const followUntil = (isLast: (line: FeedLine) => boolean): Promise<void> =>
  follow(
    deps(
      changing(async function* (lines) {
        for await (const line of lines) {
          yield line;
          if (isLast(line)) return;
        }
      }),
    ),
  );
const followToLog = () => followUntil((line) => "log" in line);

type Change = (lines: AsyncIterable<FeedLine>) => AsyncIterable<FeedLine>;

function changing(change: Change): LocalClient {
  const client = clientOf(feed);
  return { ...client, follow: (positions, signal) => change(client.follow(positions, signal)) };
}

/** Logs events that no block causes. */
function log(count: number): void {
  const events = Array.from({ length: count }, () => ({ id: `${Math.random()}`, name: "peer.added" }));
  const eventLog = new EventLog(node.database, { recordedNames: () => new Set(["peer.added"]) });
  node.database.transaction(() => eventLog.append(events));
  feed.notify();
}

async function position(): Promise<number> {
  const [row] = await postgres.query<{ position: string }>("SELECT log_sequence AS position FROM head");
  return Number(row?.position);
}

const markOf = (sequence: number) => {
  const { height, id } = node.chain.head();
  return { log: { height, id, sequence } };
};

describe.skipIf(!hasPostgres)("the position of the log in a mirror", () => {
  test("The position of the log begins before every event, and is written when the mirror has the head of the node.", async () => {
    log(3);
    expect(await position()).toBe(0);
    await followToLog();
    expect(await position()).toBe(3);
  });

  test("The position of the log moves with the blocks, and with events that no block causes.", async () => {
    log(1);
    await node.chain.accept(blocks.slice(10, 12));
    await followToLog();
    expect(await position()).toBe(1);
    const following = followUntil((line) => "log" in line && line.log.sequence === 5);
    await expect.poll(position).toBe(1);
    log(2);
    await expect.poll(position).toBe(3);
    await node.chain.accept(blocks.slice(12, 14));
    log(2);
    await following;
    expect(await position()).toBe(5);
  });

  test("The position of the log stays at a step back, until the mirror has the head of the node again.", async () => {
    await node.chain.accept(blocks.slice(10, 13));
    log(2);
    await followToLog();
    log(1);
    await node.chain.revertTo(node.chain.head().height - 2);
    await followUntil((line) => "back" in line);
    expect(await position()).toBe(2);
    await followToLog();
    expect(await position()).toBe(3);
  });

  test("The position is not beyond the copied events at the start of a session: the next can be those of another node.", async () => {
    log(9);
    await followToLog();
    expect(await position()).toBe(9);
    await postgres.query("UPDATE event_log SET last_sequence = 6");
    epoch = await lease();
    expect(await position()).toBe(6);
    await postgres.query("UPDATE event_log SET last_sequence = 20");
    epoch = await lease();
    expect(await position()).toBe(6);
    await followToLog();
    expect(await position()).toBe(9);
  });

  test("The position of the log is not written by a mirror that was replaced, nor for another block.", async () => {
    log(4);
    await postgres.query("UPDATE head SET epoch = epoch + 1");
    await expect(followToLog()).rejects.toMatchObject({ code: "MIRROR_DEPOSED" });
    epoch++;
    const other = { log: { height: 5, id: "ab", sequence: 7 } };
    const only = async function* (): AsyncIterable<FeedLine> {
      yield other;
    };
    await expect(follow(deps(changing(only)))).rejects.toMatchObject({ code: "MIRROR_DEPOSED" });
    await node.chain.accept(blocks.slice(10, 11));
    const before: Change = async function* (lines) {
      for await (const line of lines) {
        if ("log" in line) return;
        yield other;
        yield line;
      }
    };
    await expect(follow(deps(changing(before)))).rejects.toMatchObject({
      code: expect.stringMatching(/MIRROR_FEED_INVALID|MIRROR_DEPOSED/),
    });
    expect(await position()).toBe(0);
  });

  test("The position of the log may precede the blocks that arrive with it.", async () => {
    log(4);
    const mark = markOf(4);
    await node.chain.accept(blocks.slice(10, 12));
    const first: Change = async function* (lines) {
      yield mark;
      for await (const line of lines) {
        if ("log" in line) return;
        yield line;
      }
    };
    await follow(deps(changing(first)));
    expect(await position()).toBe(4);
  });
});

/** The feed has the events of the log, from any event on (docs/spec/feed.md 6). */
import { hash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EventPosition } from "../../src/feed/event-reader.ts";
import { DEFAULT_FEED_OPTIONS, Feed, type FeedResponse } from "../../src/feed/feed.ts";
import { FeedReader } from "../../src/feed/reader.ts";
import { openStateRows } from "../../src/feed/state-rows.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { COPY_READER } from "../../src/store/events/subscribed-events.ts";
import { OwnerStore } from "../../src/webhooks/sqlite/hand-over/owner.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { feedLogOf } from "../../test-support/feed/log.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

type Line = {
  readonly after?: number;
  readonly last?: number;
  readonly events?: [sequence: number, id: string, ...columns: unknown[]][];
};

let folder: ReturnType<typeof temporaryFolder>;
let database: Database;
let log: EventLog;
let feed: Feed;

beforeEach(() => {
  folder = temporaryFolder();
  const path = `${folder.path}/node.sqlite`;
  database = openDatabase(path);
  migrate(database);
  log = new EventLog(database, { recordedNames: () => new Set(["peer.added"]), now: () => 1_000 });
  feed = openFeed();
});
afterEach(() => {
  database.close();
  folder.remove();
});

const openFeed = (maxEventsMs = WAIT_MS) =>
  new Feed(
    { ...DEFAULT_FEED_OPTIONS, heartbeatMs: 20, maxEventsMs },
    {
      reader: new FeedReader(database),
      openState: () => openStateRows(`${folder.path}/node.sqlite`),
      facts: { checkpoint: () => Promise.reject(new Error("not read")) },
      ...feedLogOf(database),
    },
  );

function add(count: number, data?: unknown): void {
  const from = log.lastSequence() + 1;
  const events = Array.from({ length: count }, (_, index) => ({
    id: `peer.added:${from + index}`,
    name: "peer.added",
    ...(data !== undefined && { data }),
  }));
  database.transaction(() => log.append(events));
}

/** Reads lines until the response ends, or until it has this many events. */
async function linesOf(response: FeedResponse, count = Number.POSITIVE_INFINITY): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const part of response.text) {
    if (part === "\n") continue;
    const [digest, json = ""] = [part.slice(0, 64), part.slice(65, -1)];
    expect(digest).toBe(hash("sha256", json, "hex"));
    lines.push(JSON.parse(json));
    if (sequencesIn(lines).length >= count) break;
  }
  response.release();
  return lines;
}

const sequencesIn = (lines: readonly Line[]): number[] =>
  lines.flatMap(({ events = [] }) => events.map(([sequence]) => sequence));

const codeOf = (position: EventPosition): string => {
  try {
    feed.events(position).release();
    return "none";
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
};

test("An event has the columns of its row.", async () => {
  database.execute(`INSERT INTO events (id, name, height, block_id, created_ms, time_ms, reverts, data) VALUES
    ('a', 'block.applied', 7, 'ab', 5, 4, NULL, '{"a":[1.50,"ü\\u0000"]}'), ('b', 'block.reverted', 7, 'ab', 6, NULL, 'a', NULL)`);
  expect(await linesOf(feed.events({ sequence: 0 }), 2)).toEqual([
    { after: 0, last: 2 },
    {
      events: [
        [1, "a", "block.applied", 7, "ab", 5, 4, null, '{"a":[1.50,"ü\\u0000"]}'],
        [2, "b", "block.reverted", 7, "ab", 6, null, "a", null],
      ],
    },
  ]);
});

test("Lines are bounded in events and characters; a larger event has a line of its own.", async () => {
  add(501);
  const many = await linesOf(feed.events("oldest"), 501);
  expect(many.map(({ events }) => events?.length)).toEqual([undefined, 500, 1]);
  add(1, "x".repeat(600_000));
  add(3, "x".repeat(200_000));
  const long = await linesOf(feed.events({ sequence: 501 }), 4);
  expect(long.map(({ events }) => events?.length)).toEqual([undefined, 1, 2, 1]);
  expect(sequencesIn(long)).toEqual([502, 503, 504, 505]);
});

test("The next line is read after the previous one was read.", async () => {
  add(5_000);
  const response = feed.events("oldest");
  const parts = response.text[Symbol.asyncIterator]();
  await parts.next();
  await parts.next();
  expect(feed.figures().sentEvents).toBe(500);
  await parts.next();
  expect(feed.figures().sentEvents).toBe(1_000);
  await parts.return?.();
  response.release();
  expect(feed.figures().open).toBe(0);
});

test("An event that is logged later follows at once, after heartbeats.", async () => {
  add(2);
  const parts: string[] = [];
  const response = feed.events("newest");
  const reading = (async () => {
    for await (const part of response.text) {
      parts.push(part);
      if (part.includes("events")) break;
    }
  })();
  await expect.poll(() => parts.length).toBeGreaterThan(2);
  expect(parts[0]).toContain('{"after":2,"last":2}');
  expect(new Set(parts.slice(1))).toEqual(new Set(["\n"]));
  add(1);
  feed.notify();
  await reading;
  expect(parts.at(-1)).toContain('[3,"peer.added:3"');
});

test("Heartbeats are sent while blocks without events are committed.", async () => {
  const response = feed.events("newest");
  const timer = setInterval(() => feed.notify(), 2);
  const parts: string[] = [];
  for await (const part of response.text) {
    parts.push(part);
    if (parts.length === 4) break;
  }
  clearInterval(timer);
  response.release();
  expect(parts.slice(1)).toEqual(["\n", "\n", "\n"]);
});

test("A response ends after its time, also while events follow, and when the feed is closed.", async () => {
  feed = openFeed(300);
  expect(await linesOf(feed.events("newest"))).toEqual([{ after: 0, last: 0 }]);
  const busy = linesOf(feed.events("newest"));
  add(1);
  const timer = setInterval(() => {
    add(1);
    feed.notify();
  }, 5);
  expect(sequencesIn(await busy).length).toBeGreaterThan(0);
  clearInterval(timer);
  const closing = linesOf(feed.events("newest"));
  feed.close();
  expect(await closing).toHaveLength(1);
});

test("An event that is not in the log is refused.", async () => {
  add(10);
  database.execute("DELETE FROM events WHERE sequence <= 5");
  expect(codeOf({ sequence: 4 })).toMatch(
    /^FEED_GONE: the events after 4 were dropped from the log: continue/,
  );
  expect(codeOf({ sequence: 11 })).toMatch(/^FEED_GONE: the log ends at event 10, before 11/);
  expect(codeOf({ sequence: 6, id: "other" })).toMatch(/^FEED_GONE: event 6 has another id/);
  expect(codeOf({ sequence: 6, id: "peer.added:6" })).toBe("none");
  // The row of the last dropped event cannot be compared.
  expect(codeOf({ sequence: 5, id: "other" })).toBe("none");
  expect((await linesOf(feed.events("oldest"), 5))[0]).toEqual({ after: 5, last: 10 });
  database.execute("DELETE FROM events");
  expect(codeOf({ sequence: 9 })).toMatch(/^FEED_GONE/);
  expect(codeOf({ sequence: 10 })).toBe("none");
  expect((await linesOf(openFeed(300).events("oldest")))[0]).toEqual({ after: 10, last: 10 });
});

test("A response ends when its next event was dropped.", async () => {
  add(1_500);
  const lines: string[] = [];
  const response = feed.events("oldest");
  for await (const part of response.text) {
    lines.push(part);
    if (lines.length === 2) database.execute("DELETE FROM events WHERE sequence <= 600");
  }
  response.release();
  expect(lines).toHaveLength(2);
});

test("A request confirms copies: the cursor moves forward, and is not created.", async () => {
  add(10);
  feed.events({ sequence: 3 }).release();
  expect(log.cursor(COPY_READER)).toBeUndefined();
  expect(feed.figures().uncopiedEvents).toBe(0);
  log.moveCursor(COPY_READER, 2);
  feed.events({ sequence: 5 }).release();
  feed.events({ sequence: 4 }).release();
  feed.events("newest").release();
  expect(codeOf({ sequence: 11 })).toContain("FEED_GONE");
  expect(log.cursor(COPY_READER)).toBe(5);
  expect(feed.figures().uncopiedEvents).toBe(5);
  log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 });
  expect(log.read(0, 20).map(({ sequence }) => sequence)).toEqual([6, 7, 8, 9, 10]);
});

test("Only the mirror whose database has the webhooks of the node confirms copies.", () => {
  add(10);
  const owner = new OwnerStore(database);
  owner.write({ state: "workers", transfer: "mine" });
  log.moveCursor(COPY_READER, 2);
  for (const other of [{}, { transfer: "other" }]) feed.events({ sequence: 5, ...other }).release();
  expect(log.cursor(COPY_READER)).toBe(2);
  log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 });
  expect(log.read(0, 20).map(({ sequence }) => sequence)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  feed.events({ sequence: 4, transfer: "mine" }).release();
  expect(log.cursor(COPY_READER)).toBe(4);
});

test("Later events can get higher sequences, and follow the events before them.", async () => {
  feed.continueEvents(0);
  feed.continueEvents(3);
  expect(codeOf({ sequence: 3 })).toBe("none");
  add(2);
  log.moveCursor("at the end", 5);
  log.moveCursor("behind", 4);
  feed.continueEvents(100);
  feed.continueEvents(50);
  expect(codeOf({ sequence: 100 })).toBe("none");
  expect([log.cursor("at the end"), log.cursor("behind")]).toEqual([100, 4]);
  add(1);
  expect(sequencesIn(await linesOf(feed.events({ sequence: 100 }), 1))).toEqual([101]);
  expect(sequencesIn(await linesOf(feed.events("oldest"), 1))).toEqual([4, 5, 101]);
  expect(sequencesIn(await linesOf(feed.events({ sequence: 5 }), 1))).toEqual([101]);
  expect(sequencesIn(await linesOf(feed.events({ sequence: 50 }), 1))).toEqual([101]);
});

test("Responses with events count among the open ones.", () => {
  const responses = Array.from({ length: DEFAULT_FEED_OPTIONS.maxOpen }, () => feed.events("newest"));
  expect(codeOf("newest")).toContain("FEED_FULL");
  for (const response of responses) response.release();
  expect(feed.figures().open).toBe(0);
});

/** The copy of the event log in PostgreSQL: each event once, in order, and no gap without a record (docs/spec/feed.md 6). */
import assert from "node:assert";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DEFAULT_FEED_OPTIONS, Feed } from "../../src/feed/feed.ts";
import { FeedReader } from "../../src/feed/reader.ts";
import { openStateRows } from "../../src/feed/state-rows.ts";
import { type CopyDeps, EventCopy, HeightWatch } from "../../src/mirror/events/copy.ts";
import { appendEvents, pruneEvents, readCopy, startCopy } from "../../src/mirror/events/rows.ts";
import { takeLease } from "../../src/mirror/head.ts";
import type { CopiedEvent, EventLine } from "../../src/mirror/line.ts";
import { MirrorError } from "../../src/mirror/mirror-error.ts";
import { createLogger } from "../../src/platform/logging/logger.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { migrate as migratePostgres } from "../../src/postgres/migrations.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { COPY_READER } from "../../src/store/events/subscribed-events.ts";
import { OwnerStore } from "../../src/webhooks/sqlite/hand-over/owner.ts";
import { temporaryFolder } from "../../test-support/chain/fixtures.ts";
import { feedLogOf } from "../../test-support/feed/log.ts";
import { copiedEvents, nodeEvents } from "../../test-support/mirror/events.ts";
import { clientOf } from "../../test-support/mirror/feed-client.ts";
import { useDatabases } from "../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

const POLL = { interval: 10 };
const UNACCEPTED = ["block.received", "block.disregarded"];
const databases = useDatabases();

let folder: ReturnType<typeof temporaryFolder>;
let postgres: Postgres;
let database: Database;
let log: EventLog;
let feed: Feed;
/** Lines of the mirror's log. */
let lines: string[];

beforeEach(async () => {
  if (!hasPostgres) return;
  folder = temporaryFolder();
  lines = [];
  postgres = await databases.connect();
  await migratePostgres(postgres);
  openNode("node");
});
afterEach(async () => {
  if (!hasPostgres) return;
  await postgres.close();
  database.close();
  folder.remove();
});

function openNode(name: string): void {
  const path = `${folder.path}/${name}.sqlite`;
  database = openDatabase(path);
  migrate(database);
  log = new EventLog(database, {
    recordedNames: () => new Set(["peer.added", "block.applied", ...UNACCEPTED]),
  });
  feed = new Feed(
    { ...DEFAULT_FEED_OPTIONS, heartbeatMs: 20, maxEventsMs: 200 },
    {
      reader: new FeedReader(database),
      openState: () => openStateRows(path),
      facts: { checkpoint: () => Promise.reject(new Error("not read")) },
      ...feedLogOf(database),
    },
  );
}

type Added = { readonly name?: string; readonly height?: number; readonly data?: unknown };

function add(count: number, { height, name, data }: Added = {}): void {
  const from = log.lastSequence() + 1;
  const events = Array.from({ length: count }, (_, index) => ({
    id: `${Math.random()}:${from + index}`,
    name: name ?? (height === undefined ? "peer.added" : "block.applied"),
    ...(height !== undefined && { height, blockId: "ab" }),
    ...(data !== undefined && { data }),
  }));
  database.transaction(() => log.append(events));
  feed.notify();
}

const eventOf = (sequence: number, createdMs = Date.now(), data: string | null = null): CopiedEvent => [
  ...([sequence, `${sequence}`, "peer.added", null, null] as const),
  ...([createdMs, null, null, data] as const),
];

const lease = async (owner = "mirror"): Promise<number> => {
  const head = await takeLease(postgres, { nethash: "test", owner });
  assert(head);
  return head.epoch;
};

type Overrides = { readonly epoch?: number; readonly client?: CopyDeps["feed"] };

/** Runs a copy until `stop` is called. */
async function start({ epoch, client = clientOf(feed) }: Overrides = {}) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const heights = new HeightWatch(0, signal);
  const reports: { sequence: number; gaps: number }[] = [];
  const running = new EventCopy().run({
    ...{ postgres, feed: client, epoch: epoch ?? (await lease()), heights, signal },
    onCopied: ({ sequence, gaps }) => reports.push({ sequence, gaps }),
    logger: createLogger("info", { write: (line) => lines.push(line) }),
  });
  const settled = running.catch((error: Error) => error);
  return {
    heights,
    reports,
    settled,
    async stop() {
      stopping.abort();
      await settled;
    },
  };
}

const state = () => readCopy(postgres);
const started = () => expect.poll(async () => (await state()).isStarted, POLL).toBe(true);
const copiedUpTo = (sequence: number) =>
  expect.poll(async () => (await state()).sequence, POLL).toBe(sequence);

describe.skipIf(!hasPostgres)("the copy of an event log", () => {
  test("The copy of an event log begins with the next event, and has every later one once, in order and unchanged.", async () => {
    add(5);
    const copy = await start();
    await started();
    expect(await state()).toMatchObject({ sequence: 5, gaps: 0 });
    add(1, { data: { text: 'ü\u0000\t\\N"', number: 1.5, nothing: null } });
    add(1_700);
    add(3, { data: null });
    await copiedUpTo(1_709);
    expect(await copiedEvents(postgres, 0)).toEqual(nodeEvents(database, 5));
    expect((await state()).id).toBe(log.read(1_708, 1)[0]?.id);
    // The reply to the commit may arrive after the rows are visible.
    await copy.stop();
    expect(copy.reports.at(-1)).toEqual({ sequence: 1_709, gaps: 0 });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: "info", after: 5, msg: "copying the events of the node" },
    ]);
  });

  test("The copy of an event log has the first event of a log that was empty when the copy began.", async () => {
    const first = await start();
    await started();
    await first.stop();
    add(3);
    const second = await start();
    await copiedUpTo(3);
    await second.stop();
    expect(await copiedEvents(postgres, 0)).toEqual(nodeEvents(database, 0));
  });

  test("The copy of an event log confirms its events with each request, so that the node keeps the rest only.", async () => {
    const copy = await start();
    await started();
    log.moveCursor(COPY_READER, 0);
    add(10);
    await copiedUpTo(10);
    await expect.poll(() => log.cursor(COPY_READER), POLL).toBe(10);
    await copy.stop();
  });

  test("The copy of an event log waits for the block of an event, but not for long.", async () => {
    const copy = await start();
    await started();
    add(2, { height: 10 });
    copy.heights.reach(9);
    copy.heights.reach(10);
    await copiedUpTo(2);
    // Never reached.
    add(1, { height: 11 });
    await copiedUpTo(3);
    add(1, { height: 12 });
    await copy.stop();
    expect((await state()).sequence).toBe(3);
  });

  test("The copy of an event log does not wait for blocks that the node has not accepted: a peer chooses their heights.", async () => {
    const copy = await start();
    await started();
    const waitFor = vi.spyOn(copy.heights, "waitFor");
    for (const name of UNACCEPTED) add(1, { name, height: 1_000_000 });
    await copiedUpTo(2);
    expect(new Set(waitFor.mock.calls.map(([height]) => height))).toEqual(new Set([0]));
    await copy.stop();
  });

  test("The copy of an event log is changed by the mirror with the lease alone.", async () => {
    const epoch = await lease("first");
    const old = await start({ epoch });
    await started();
    await postgres.query("UPDATE head SET lease_until = now()");
    const next = await lease("second");
    add(1);
    expect(await old.settled).toMatchObject({ code: "MIRROR_DEPOSED" });
    expect((await state()).sequence).toBe(0);
    expect(await copiedEvents(postgres, 0)).toEqual([]);
    const copy = await start({ epoch: next });
    await copiedUpTo(1);
    await copy.stop();
    await expect(appendEvents(postgres, 1, [eventOf(2)], epoch)).rejects.toMatchObject({
      code: "MIRROR_DEPOSED",
    });
    await expect(startCopy(postgres, 9, epoch)).rejects.toMatchObject({ code: "MIRROR_DEPOSED" });
    await expect(
      pruneEvents(postgres, { maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 }, epoch),
    ).rejects.toMatchObject({
      code: "MIRROR_DEPOSED",
    });
    expect(await copiedEvents(postgres, 0)).toEqual(nodeEvents(database, 0));
  });

  test("The copy of an event log writes no event twice, and none out of order.", async () => {
    const epoch = await lease();
    await startCopy(postgres, 4, epoch);
    await appendEvents(postgres, 4, [eventOf(5), eventOf(6)], epoch);
    for (const sequence of [5, 6, 8]) {
      await expect(appendEvents(postgres, sequence - 1, [eventOf(sequence)], epoch)).rejects.toMatchObject({
        code: "MIRROR_DEPOSED",
      });
    }
    await appendEvents(postgres, 6, [], epoch);
    await appendEvents(postgres, 6, [eventOf(7), eventOf(9)], epoch);
    expect(await state()).toMatchObject({ sequence: 9, id: "9", isStarted: true, gaps: 0 });
    expect(await copiedEvents(postgres, 0)).toHaveLength(4);
  });

  test("The copy of an event log records events that the node has dropped as a gap, and continues with the oldest one.", async () => {
    const first = await start();
    await started();
    add(3, { height: 7 });
    await copiedUpTo(3);
    await first.stop();
    add(10);
    database.execute("DELETE FROM events WHERE sequence <= 8");
    const second = await start();
    await copiedUpTo(13);
    await second.stop();
    expect(await copiedEvents(postgres, 3)).toEqual(nodeEvents(database, 3));
    expect(await state()).toMatchObject({ gaps: 1, lastGapMs: expect.any(Number) });
    const line = JSON.parse(`${lines.at(-1)}`);
    expect(line).toMatchObject({ level: "error", lastCopied: 3, next: 9, height: 7 });
    expect(line.msg).toContain("start a replay from this height");
    expect(second.reports.at(-1)).toEqual({ sequence: 13, gaps: 1 });
  });

  test("The copy of an event log confirms copies with the id of the hand-over of its database.", async () => {
    log.moveCursor(COPY_READER, 0);
    new OwnerStore(database).write({ state: "workers", transfer: "mine" });
    add(1);
    for (const [transfer, confirmed] of [
      [null, 0],
      ["other", 0],
      ["mine", 4],
    ] as const) {
      await postgres.query("UPDATE webhook_register SET transfer = $1", [transfer]);
      const copy = await start();
      await started();
      add(1);
      await copiedUpTo(log.lastSequence());
      await copy.stop();
      // The first request of a session confirms what was copied before.
      const next = await start();
      await expect.poll(() => log.cursor(COPY_READER), POLL).toBe(confirmed);
      await next.stop();
    }
  });

  test("The copy of an event log records the log of another node as a gap, and continues with its later events.", async () => {
    const first = await start();
    await started();
    add(3);
    await copiedUpTo(3);
    await first.stop();
    database.close();
    openNode("other");
    add(5);
    const second = await start();
    await copiedUpTo(5);
    await second.stop();
    expect(await copiedEvents(postgres, 3)).toEqual(nodeEvents(database, 3));
    expect((await state()).gaps).toBe(1);
    expect(lines.join()).toContain("event 3 has another id");
  });

  test("The copy of an event log records a log that ends earlier as a gap; the node then gives higher sequences.", async () => {
    const first = await start();
    await started();
    add(20);
    await copiedUpTo(20);
    await first.stop();
    database.close();
    openNode("new");
    add(2);
    const second = await start();
    await expect.poll(async () => (await state()).gaps, POLL).toBe(1);
    await expect.poll(() => log.lastSequence(), POLL).toBe(20);
    add(4);
    await copiedUpTo(24);
    await second.stop();
    expect(await copiedEvents(postgres, 20)).toEqual(nodeEvents(database, 20));
    expect((await state()).gaps).toBe(1);
    expect(lines.join()).toContain("the log ends at event 2, before 20");
  });

  test("The copy of an event log continues after sequences that the node skipped for another database.", async () => {
    const copy = await start();
    await started();
    add(2);
    await copiedUpTo(2);
    feed.continueEvents(60);
    add(1);
    await copiedUpTo(61);
    await copy.stop();
    feed.continueEvents(80);
    add(1);
    const again = await start();
    await copiedUpTo(81);
    await again.stop();
    expect(await copiedEvents(postgres, 0)).toEqual(nodeEvents(database, 0));
    expect((await state()).gaps).toBe(0);
  });

  test("The copy of an event log writes nothing of a response whose events do not follow, and asks again.", async () => {
    const epoch = await lease();
    await startCopy(postgres, 4, epoch);
    const wrong: EventLine[][] = [
      [{ after: 5, last: 9 }],
      [{ after: 4, last: 9 }, { events: [eventOf(4)] }],
      [{ after: 4, last: 9 }, { events: [eventOf(6), eventOf(5)] }],
    ];
    let requests = 0;
    const client = {
      ...clientOf(feed),
      async *events() {
        yield* wrong[requests++] ?? [{ after: 4, last: 5 }, { events: [eventOf(5)] }];
      },
    };
    const copy = await start({ epoch, client });
    await copiedUpTo(5);
    await copy.stop();
    expect(await copiedEvents(postgres, 0)).toHaveLength(1);
    expect(lines.join()).toContain("MIRROR_FEED_INVALID");
  });

  test("The copy of an event log names a node that has no events once.", async () => {
    let requests = 0;
    const client = {
      ...clientOf(feed),
      async *events(): AsyncIterable<EventLine> {
        if (++requests > 0) throw new MirrorError("MIRROR_REFUSED", "the node responded 404");
        yield { after: 0, last: 0 };
      },
    };
    const copy = await start({ client });
    await expect.poll(() => requests, POLL).toBe(2);
    await copy.stop();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("the node responded 404");
  });

  describe("beyond its bounds", () => {
    const old = { maxEvents: 1e6, maxBytes: 1e9, maxAgeMs: 1_000 };
    const left = async () =>
      (await postgres.query<{ sequence: string }>("SELECT sequence FROM events ORDER BY sequence")).map(
        ({ sequence }) => Number(sequence),
      );
    /** Copies events of the given ages in seconds. */
    async function copyOf(...ages: number[]): Promise<number> {
      const epoch = await lease();
      const now = Date.now();
      const events = ages.map((age, index) => eventOf(index + 1, now - age * 1_000));
      await appendEvents(postgres, 0, events, epoch);
      return epoch;
    }

    test("The copy of an event log drops the oldest events beyond its bounds, up to the first one that is kept.", async () => {
      const epoch = await copyOf(9, 8, 0, 7, 0);
      expect(await pruneEvents(postgres, old, epoch)).toBe(false);
      expect(await left()).toEqual([3, 4, 5]);
      expect(await pruneEvents(postgres, { maxEvents: 1, maxBytes: 1e9, maxAgeMs: 1e9 }, epoch)).toBe(false);
      expect(await left()).toEqual([5]);
      expect(await pruneEvents(postgres, { maxEvents: 0, maxBytes: 1e9, maxAgeMs: 1e9 }, epoch)).toBe(false);
      expect(await left()).toEqual([]);
      expect(await pruneEvents(postgres, old, epoch)).toBe(false);
    });

    test("The copy of an event log drops the oldest events beyond the bytes of contents, across writes.", async () => {
      const epoch = await lease();
      const big = (sequence: number) => eventOf(sequence, Date.now(), `"${"ä".repeat(500)}"`);
      await appendEvents(postgres, 0, [big(1), big(2)], epoch);
      await appendEvents(postgres, 2, [big(3), eventOf(4)], epoch);
      const bounds = (maxBytes: number) => ({ maxEvents: 1e6, maxBytes, maxAgeMs: 1e9 });
      expect(await pruneEvents(postgres, bounds(3_100), epoch)).toBe(false);
      expect(await left()).toEqual([1, 2, 3, 4]);
      expect(await pruneEvents(postgres, bounds(1_003), epoch)).toBe(false);
      expect(await left()).toEqual([2, 3, 4]);
    });

    test("The copy of an event log keeps events beyond its bounds that a shard has not matched, while there are webhooks.", async () => {
      const epoch = await copyOf(9, 8, 7, 6);
      await postgres.query(
        `INSERT INTO webhooks (events, target, enabled, conditions, match_all, strict, confirmations, token, active_after)
         VALUES ('[]', 'http://127.0.0.1', true, '[]', true, false, 0, '', 0)`,
      );
      await postgres.query("UPDATE shard_positions SET matched = CASE shard WHEN 7 THEN 2 ELSE 4 END");
      await pruneEvents(postgres, old, epoch);
      expect(await left()).toEqual([3, 4]);
      await postgres.query("DELETE FROM webhooks");
      await pruneEvents(postgres, old, epoch);
      expect(await left()).toEqual([]);
    });

    test("The copy of an event log drops events beyond its bounds while it writes others: a step for each write.", async () => {
      const epoch = await copyOf(...Array<number>(10_002).fill(8 * 86_400));
      const written = [10_003, 10_004];
      const ended = Promise.withResolvers<void>();
      const client = {
        ...clientOf(feed),
        async *events(): AsyncIterable<EventLine> {
          yield { after: 10_002, last: 10_004 };
          for (const sequence of written) {
            yield { events: [eventOf(sequence)] };
            await copiedUpTo(sequence);
          }
          await ended.promise;
        },
      };
      const copy = await start({ epoch, client });
      await expect.poll(left, POLL).toEqual(written);
      ended.resolve();
      await copy.stop();
    });

    test("The copy of an event log drops events beyond its bounds in steps.", async () => {
      const epoch = await copyOf(...Array<number>(5_001).fill(9));
      expect(await pruneEvents(postgres, old, epoch)).toBe(true);
      expect(await left()).toEqual([5_001]);
      expect(await pruneEvents(postgres, old, epoch)).toBe(false);
      expect(await left()).toEqual([]);
    });
  });
});

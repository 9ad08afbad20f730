import { describe, expect, test } from "vitest";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { EventLog } from "../../../src/store/events/event-log.ts";

function openLog(recordedNames = new Set(["block.applied", "round.applied"])) {
  const database = openDatabase(":memory:");
  migrate(database);
  const clock = { ms: 1_000 };
  const log = new EventLog(database, { recordedNames: () => recordedNames, now: () => clock.ms });
  return { database, log, clock, recordedNames };
}

const applied = (height: number) => ({
  id: `block.applied:${height}`,
  name: "block.applied",
  height,
  blockId: `${height}`,
  data: { height },
});

describe("the event log", () => {
  test("The event log records the subscribed events, in order and unchanged.", () => {
    const { log, recordedNames } = openLog();
    log.append([applied(2), { id: "peer.added:1", name: "peer.added" }, { id: "r", name: "round.applied" }]);
    recordedNames.add("peer.added");
    log.append([{ id: "peer.added:1", name: "peer.added", data: null }]);
    expect(log.isRecorded("peer.added")).toBe(true);
    expect(log.isRecorded("peer.removed")).toBe(false);
    expect(log.read(0, 10)).toEqual([
      { sequence: 1, createdMs: 1_000, ...applied(2) },
      { sequence: 2, createdMs: 1_000, id: "r", name: "round.applied" },
      { sequence: 3, createdMs: 1_000, id: "peer.added:1", name: "peer.added", data: null },
    ]);
    expect(log.read(1, 1).map(({ sequence }) => sequence)).toEqual([2]);
    expect(log.lastSequence()).toBe(3);
  });

  test("The event log writes within the surrounding transaction.", () => {
    const { database, log } = openLog();
    expect(() =>
      database.transaction(() => {
        log.append([applied(2)]);
        throw new Error("disk full");
      }),
    ).toThrow();
    expect(log.read(0, 10)).toEqual([]);
    expect(log.lastSequence()).toBe(0);
  });

  test("The event log keeps a cursor for each reader.", () => {
    const { log } = openLog();
    expect(log.cursor("webhooks")).toBeUndefined();
    log.moveCursor("webhooks", 3);
    log.moveCursor("mirror", 1);
    log.moveCursor("webhooks", 4);
    expect([log.cursor("webhooks"), log.cursor("mirror")]).toEqual([4, 1]);
    log.removeCursor("mirror");
    expect(log.cursor("mirror")).toBeUndefined();
  });
});

describe("retention of the event log", () => {
  const sequences = (log: ReturnType<typeof openLog>["log"]) =>
    log.read(0, 20_000).map((event) => event.sequence);

  test("Retention of the event log drops by number, and never reuses a sequence.", () => {
    const { log } = openLog();
    log.append([1, 2, 3, 4].map(applied));
    expect(log.prune({ maxEvents: 2, maxBytes: 1e9, maxAgeMs: 1_000_000 })).toBe(false);
    expect(sequences(log)).toEqual([3, 4]);
    log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 1_000_000 });
    expect(sequences(log)).toEqual([]);
    expect(log.lastSequence()).toBe(4);
    log.append([applied(5)]);
    expect(sequences(log)).toEqual([5]);
  });

  test("Retention of the event log drops by age.", () => {
    const { log, clock } = openLog();
    log.append([applied(1)]);
    clock.ms = 2_000;
    log.append([applied(2)]);
    clock.ms = 3_000;
    log.prune({ maxEvents: 100, maxBytes: 1e9, maxAgeMs: 1_000 });
    expect(sequences(log)).toEqual([2]);
  });

  test("Retention of the event log keeps events while the wall time is ahead of the time of the retention.", () => {
    const { database, clock } = openLog();
    const options = { recordedNames: () => new Set(["block.applied"]), now: () => clock.ms };
    const log = new EventLog(database, { ...options, retentionNow: () => 1_000 });
    log.append([applied(1)]);
    clock.ms = 1_000_000;
    log.append([applied(2)]);
    log.prune({ maxEvents: 100, maxBytes: 1e9, maxAgeMs: 1_000 });
    expect(sequences(log)).toEqual([1, 2]);
  });

  test("Retention of the event log keeps events that the slowest reader has not processed.", () => {
    const { log } = openLog();
    log.append([1, 2, 3, 4].map(applied));
    log.moveCursor("fast", 4);
    log.moveCursor("slow", 2);
    log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 });
    expect(sequences(log)).toEqual([3, 4]);
    log.removeCursor("slow");
    log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 });
    expect(sequences(log)).toEqual([]);
  });

  test("Retention of the event log drops by the bytes of contents, of which a step drops 8 MiB.", () => {
    const { database, log } = openLog();
    const rejected = (height: number) => ({ ...applied(height), data: "ä".repeat(512 * 1024) });
    log.append([1, 2, 3, 4].map(rejected));
    // Each content has two quotation marks more than 1 MiB.
    log.prune({ maxEvents: 100, maxBytes: 2 * 1024 * 1024, maxAgeMs: 1_000_000 });
    expect(sequences(log)).toEqual([3, 4]);
    log.append([applied(5)]);
    log.prune({ maxEvents: 100, maxBytes: 5, maxAgeMs: 1_000_000 });
    expect(sequences(log)).toEqual([5]);
    database.transaction(() => log.append(Array.from({ length: 12 }, (_, index) => rejected(index))));
    expect(log.prune({ maxEvents: 100, maxBytes: 0, maxAgeMs: 1_000_000 })).toBe(true);
    expect(sequences(log)).toEqual([14, 15, 16, 17]);
    expect(log.prune({ maxEvents: 100, maxBytes: 0, maxAgeMs: 1_000_000 })).toBe(false);
    expect(sequences(log)).toEqual([]);
  });

  test("Retention of the event log drops in steps.", () => {
    const { database, log } = openLog();
    database.transaction(() => log.append(Array.from({ length: 6_000 }, (_, index) => applied(index))));
    expect(log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 })).toBe(true);
    expect(sequences(log)).toHaveLength(1_000);
    expect(log.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 })).toBe(false);
    expect(sequences(log)).toHaveLength(0);
  });
});

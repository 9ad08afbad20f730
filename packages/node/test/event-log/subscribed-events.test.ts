import { expect, test } from "vitest";
import { SubscribedEvents } from "../../src/event-log/subscribed-events.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import {
  COPY_READER,
  CopiedEvents,
  RemoteNameStore,
  SubscribedEventStore,
} from "../../src/store/events/subscribed-events.ts";

function open(webhooks: string[] = []) {
  const database = openDatabase(":memory:");
  migrate(database);
  const log = { last: 0, nowMs: 0 };
  const names = new Set(webhooks);
  const start = () =>
    new SubscribedEvents({
      store: new SubscribedEventStore(database),
      remoteNames: new RemoteNameStore(database, new CopiedEvents(database)),
      lastSequence: () => log.last,
      webhookNames: () => new Set(names),
      elapsedMs: () => log.nowMs,
      lingerMs: 100,
    });
  const writes = () =>
    present(database.prepare<{ n: number }>("SELECT total_changes() AS n").get(), "a row").n;
  const events = new EventLog(database, { recordedNames: () => new Set(["peer.added"]) });
  return { database, log, names, start, writes, events };
}

test("The register unites the names that webhooks and streams subscribe to.", () => {
  const { names, start } = open(["block.applied"]);
  const subscribedEvents = start();
  subscribedEvents.streamsChanged(["peer.added"]);
  expect([...subscribedEvents.names()].sort()).toEqual(["block.applied", "peer.added"]);
  names.clear();
  subscribedEvents.webhooksChanged();
  expect([...subscribedEvents.names()]).toEqual(["peer.added"]);
});

test("The register returns the sequence from which on the log has every event of a name.", () => {
  const { log, start } = open();
  const subscribedEvents = start();
  log.last = 7;
  expect(subscribedEvents.streamsChanged(["peer.added"])).toEqual({ "peer.added": 7 });
  log.last = 9;
  expect(subscribedEvents.streamsChanged(["peer.added", "peer.removed"])).toEqual({
    "peer.added": 7,
    "peer.removed": 9,
  });
});

test("The register keeps a name for a while after its last stream was closed, across a restart too, and until another event is logged.", () => {
  const { log, start } = open();
  const first = start();
  first.streamsChanged(["peer.added"]);
  first.streamsChanged([]);
  log.nowMs = 99;
  first.dropExpired();
  expect(first.names().has("peer.added")).toBe(true);
  const second = start();
  log.nowMs = 150;
  second.dropExpired();
  log.last = 5;
  expect(second.streamsChanged(["peer.added"])).toEqual({ "peer.added": 0 });
  second.streamsChanged([]);
  log.nowMs = 250;
  second.dropExpired();
  expect(second.names().has("peer.added")).toBe(true);
  log.last = 6;
  second.dropExpired();
  expect(second.names().has("peer.added")).toBe(false);
  expect(second.streamsChanged(["peer.added"])).toEqual({ "peer.added": 6 });
  expect(start().names().has("peer.added")).toBe(true);
});

test("The register drops no name that a stream or a webhook subscribes to.", () => {
  const { log, start } = open(["block.applied"]);
  const subscribedEvents = start();
  subscribedEvents.streamsChanged(["block.applied", "peer.added"]);
  subscribedEvents.streamsChanged(["peer.added"]);
  log.nowMs = 1_000;
  log.last = 3;
  subscribedEvents.dropExpired();
  expect(subscribedEvents.streamsChanged(["block.applied", "peer.added"])).toEqual({
    "block.applied": 0,
    "peer.added": 0,
  });
});

test("The register counts from a gap on in which subscribed events were not recorded.", () => {
  const { log, start } = open();
  const subscribedEvents = start();
  subscribedEvents.streamsChanged(["peer.added"]);
  log.last = 4;
  subscribedEvents.markGap();
  expect(subscribedEvents.streamsChanged(["peer.added"])).toEqual({ "peer.added": 4 });
  expect(start().streamsChanged(["peer.added"])).toEqual({ "peer.added": 4 });
});

test("The register does not write to the database for every stream.", () => {
  const { start, writes } = open();
  const subscribedEvents = start();
  subscribedEvents.streamsChanged(["peer.added"]);
  const before = writes();
  for (let count = 0; count < 50; count++) {
    subscribedEvents.streamsChanged([]);
    subscribedEvents.streamsChanged(["peer.added"]);
    subscribedEvents.markGap();
  }
  expect(writes()).toBe(before);
});

test("Names of another database stay subscribed until they are replaced, across a restart too, and until another event is logged.", () => {
  const { log, start } = open(["block.applied"]);
  const first = start();
  log.last = 4;
  expect(first.replaceRemote(["peer.added", "block.forged"])).toBe(4);
  log.nowMs = 1_000;
  first.dropExpired();
  expect([...first.names()].sort()).toEqual(["block.applied", "block.forged", "peer.added"]);
  const second = start();
  expect([...second.names()].sort()).toEqual(["block.applied", "block.forged", "peer.added"]);
  expect(second.replaceRemote(["peer.added"])).toBe(4);
  expect([...second.names()].sort()).toEqual(["block.applied", "peer.added"]);
  second.replaceRemote([]);
  expect([...second.names()]).toEqual(["block.applied"]);
  expect([...start().names()]).toEqual(["block.applied"]);
});

test("The log keeps events for another database while that has names.", () => {
  const { start, events } = open();
  const add = (count: number) =>
    events.append(Array.from({ length: count }, (_, index) => ({ id: `${index}`, name: "peer.added" })));
  const kept = () => {
    events.prune({ maxEvents: 0, maxBytes: 1e9, maxAgeMs: 0 });
    return events.read(0, 100).length;
  };
  const subscribedEvents = start();
  add(3);
  subscribedEvents.replaceRemote(["peer.added"]);
  expect(kept()).toBe(3);
  events.moveCursor(COPY_READER, 2);
  subscribedEvents.replaceRemote(["peer.added", "peer.removed"]);
  expect([kept(), events.cursor(COPY_READER)]).toEqual([1, 2]);
  subscribedEvents.replaceRemote([]);
  expect([kept(), events.cursor(COPY_READER)]).toEqual([0, undefined]);
  subscribedEvents.replaceRemote(["peer.added"]);
  expect(events.cursor(COPY_READER)).toBe(3);
});

test("Names of another database that cannot be stored change nothing.", () => {
  const { database, start } = open();
  const subscribedEvents = start();
  subscribedEvents.replaceRemote(["peer.added"]);
  database.execute("ALTER TABLE remote_names RENAME TO hidden");
  expect(() => subscribedEvents.replaceRemote(["block.applied"])).toThrow();
  database.execute("ALTER TABLE hidden RENAME TO remote_names");
  expect([...subscribedEvents.names()]).toEqual(["peer.added"]);
  expect([...start().names()]).toEqual(["peer.added"]);
});

test("The same names of another database are not written again.", () => {
  const { log, start, writes } = open();
  const subscribedEvents = start();
  subscribedEvents.replaceRemote(["peer.added", "peer.removed"]);
  const before = writes();
  log.last = 3;
  expect(subscribedEvents.replaceRemote(["peer.removed", "peer.added"])).toBe(3);
  expect(writes()).toBe(before);
});

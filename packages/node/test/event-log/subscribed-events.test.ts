import { expect, test } from "vitest";
import { createSubscribedEvents } from "../../src/event-log/subscribed-events.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { createSubscribedEventStore } from "../../src/store/events/subscribed-events.ts";

function open(webhooks: string[] = []) {
  const database = openDatabase(":memory:");
  migrate(database);
  const log = { last: 0, nowMs: 0 };
  const names = new Set(webhooks);
  const start = () =>
    createSubscribedEvents({
      store: createSubscribedEventStore(database),
      lastSequence: () => log.last,
      webhookNames: () => new Set(names),
      nowMs: () => log.nowMs,
      lingerMs: 100,
    });
  const writes = () =>
    present(database.prepare<{ n: number }>("SELECT total_changes() AS n").get(), "a row").n;
  return { log, names, start, writes };
}

test("unites the names that webhooks and streams subscribe to", () => {
  const { names, start } = open(["block.applied"]);
  const subscribedEvents = start();
  subscribedEvents.streamsChanged(["peer.added"]);
  expect([...subscribedEvents.names()].sort()).toEqual(["block.applied", "peer.added"]);
  names.clear();
  subscribedEvents.webhooksChanged();
  expect([...subscribedEvents.names()]).toEqual(["peer.added"]);
});

test("returns the sequence from which on the log has every event of a name", () => {
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

test("keeps a name for a while after its last stream was closed, across a restart too", () => {
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
  expect(second.names().has("peer.added")).toBe(false);
  expect(second.streamsChanged(["peer.added"])).toEqual({ "peer.added": 5 });
  expect(start().names().has("peer.added")).toBe(true);
});

test("drops no name that a stream or a webhook subscribes to", () => {
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

test("counts from a gap on in which subscribed events were not recorded", () => {
  const { log, start } = open();
  const subscribedEvents = start();
  subscribedEvents.streamsChanged(["peer.added"]);
  log.last = 4;
  subscribedEvents.markGap();
  expect(subscribedEvents.streamsChanged(["peer.added"])).toEqual({ "peer.added": 4 });
  expect(start().streamsChanged(["peer.added"])).toEqual({ "peer.added": 4 });
});

test("does not write to the database for every stream", () => {
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

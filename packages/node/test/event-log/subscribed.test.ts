import { expect, test } from "vitest";
import { createInterest } from "../../src/event-log/subscribed.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { createWantedStore } from "../../src/store/events/subscribed.ts";

function open(webhooks: string[] = []) {
  const database = openDatabase(":memory:");
  migrate(database);
  const log = { last: 0, nowMs: 0 };
  const names = new Set(webhooks);
  const start = () =>
    createInterest({
      store: createWantedStore(database),
      lastSequence: () => log.last,
      webhookNames: () => new Set(names),
      nowMs: () => log.nowMs,
      lingerMs: 100,
    });
  const writes = () => database.prepare<{ n: number }>("SELECT total_changes() AS n").get()!.n;
  return { log, names, start, writes };
}

test("unites what webhooks and streams want", () => {
  const { names, start } = open(["block.applied"]);
  const interest = start();
  interest.streamsChanged(["peer.added"]);
  expect([...interest.names()].sort()).toEqual(["block.applied", "peer.added"]);
  names.clear();
  interest.webhooksChanged();
  expect([...interest.names()]).toEqual(["peer.added"]);
});

test("knows since when the log has a name without a gap", () => {
  const { log, start } = open();
  const interest = start();
  log.last = 7;
  expect(interest.streamsChanged(["peer.added"])).toEqual({ "peer.added": 7 });
  log.last = 9;
  expect(interest.streamsChanged(["peer.added", "peer.removed"])).toEqual({
    "peer.added": 7,
    "peer.removed": 9,
  });
});

test("keeps a name for a while after the last stream has left it, over a restart as well", () => {
  const { log, start } = open();
  const first = start();
  first.streamsChanged(["peer.added"]);
  first.streamsChanged([]);
  log.nowMs = 99;
  first.forget();
  expect(first.names().has("peer.added")).toBe(true);
  const second = start();
  log.nowMs = 150;
  second.forget();
  log.last = 5;
  expect(second.streamsChanged(["peer.added"])).toEqual({ "peer.added": 0 });
  second.streamsChanged([]);
  log.nowMs = 250;
  second.forget();
  expect(second.names().has("peer.added")).toBe(false);
  expect(second.streamsChanged(["peer.added"])).toEqual({ "peer.added": 5 });
  expect(start().names().has("peer.added")).toBe(true);
});

test("forgets no name that a stream wants, or a webhook", () => {
  const { log, start } = open(["block.applied"]);
  const interest = start();
  interest.streamsChanged(["block.applied", "peer.added"]);
  interest.streamsChanged(["peer.added"]);
  log.nowMs = 1_000;
  log.last = 3;
  interest.forget();
  expect(interest.streamsChanged(["block.applied", "peer.added"])).toEqual({
    "block.applied": 0,
    "peer.added": 0,
  });
});

test("begins anew where wanted events were not written", () => {
  const { log, start } = open();
  const interest = start();
  interest.streamsChanged(["peer.added"]);
  log.last = 4;
  interest.missed();
  expect(interest.streamsChanged(["peer.added"])).toEqual({ "peer.added": 4 });
  expect(start().streamsChanged(["peer.added"])).toEqual({ "peer.added": 4 });
});

test("does not write for every stream", () => {
  const { start, writes } = open();
  const interest = start();
  interest.streamsChanged(["peer.added"]);
  const before = writes();
  for (let count = 0; count < 50; count++) {
    interest.streamsChanged([]);
    interest.streamsChanged(["peer.added"]);
    interest.missed();
  }
  expect(writes()).toBe(before);
});

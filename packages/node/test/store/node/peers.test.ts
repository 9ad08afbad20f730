import { afterEach, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { PeerStore } from "../../../src/store/node/peers.ts";

let database: Database;
let store: PeerStore;
beforeEach(() => {
  database = openDatabase(":memory:");
  migrate(database);
  store = new PeerStore(database);
});
afterEach(() => database.close());

test("The peer store returns the most recently seen addresses, newest first.", () => {
  store.saw(["203.0.113.1", "203.0.113.2"], 1_000);
  store.saw(["203.0.113.3"], 2_000);
  store.saw(["203.0.113.1"], 3_000);
  expect(store.known(2)).toEqual(["203.0.113.1", "203.0.113.3"]);
  store.forget("203.0.113.1");
  expect(store.known(9)).toEqual(["203.0.113.3", "203.0.113.2"]);
});

test("The peer store keeps no more addresses than a network has.", () => {
  const addresses = Array.from({ length: 1_100 }, (_, index) => `203.0.${index >> 8}.${index & 255}`);
  store.saw(addresses, 1_000);
  expect(store.known(2_000)).toHaveLength(1_000);
});

test("The peer store removes a ban when it has ended.", () => {
  store.ban({ ip: "203.0.113.1", untilMs: 2_000, reason: "lies" });
  store.ban({ ip: "203.0.113.1", untilMs: 3_000, reason: "more lies" });
  expect(store.bans(2_500)).toEqual([{ ip: "203.0.113.1", untilMs: 3_000, reason: "more lies" }]);
  expect(store.bans(3_000)).toEqual([]);
  expect(store.bans(0)).toEqual([]);
});

/** Rows that were written under earlier names of tables and columns. */
import { expect, test } from "vitest";
import { createSubscribedEventStore } from "../../../src/store/events/subscribed-events.ts";
import { createDeliveryLogStore } from "../../../src/webhooks/sqlite/delivery-log.ts";
import { createFinishedDeliveryStore } from "../../../src/webhooks/sqlite/finished-deliveries.ts";
import { createReplayStore } from "../../../src/webhooks/sqlite/replays.ts";
import {
  createBlockRevertStore,
  createDeliveredFactStore,
} from "../../../src/webhooks/sqlite/retractions.ts";
import { createUnconfirmedEventStore } from "../../../src/webhooks/sqlite/unconfirmed-events.ts";
import { createWebhookStore } from "../../../src/webhooks/sqlite/webhooks.ts";
import { openConverted } from "../../../test-support/store/earlier-schema.ts";

/** Webhook 1 has a pending fact, a retracted one, and a ping; webhook 2 is being finished. */
const ROWS = `
  INSERT INTO webhooks (id, event, events, target, enabled, conditions, match_all, strict, confirmations, token, active_after)
    VALUES (1, 'block.applied', '[]', 'http://a', 1, '[]', 1, 0, 3, 't', 0), (2, NULL, '[]', 'http://b', 1, '[]', 1, 0, 0, 't', 0);
  INSERT INTO contents (number, data) VALUES (1, '{}'), (2, '{"ping":true}');
  INSERT INTO deliveries (number, webhook, id, sequence, event, height, block_id, stands, target_number, content, state, created_ms)
    VALUES (1, 1, 'fact', 1, 'block.applied', 7, 'b7', 1, 1, 1, 'pending', 5),
      (2, 1, 'retracted', 2, 'block.applied', 7, 'b6', 0, 1, 1, 'delivered', 5),
      (3, 1, 'ping', NULL, 'ping', NULL, NULL, NULL, 1, 2, 'pending', 5);
  INSERT INTO attempts VALUES (2, 1, 10, 20, 200, 'OK', NULL);
  INSERT INTO attempt_counts VALUES (1, 1, 1, 0);
  INSERT INTO reversals VALUES ('b6', 4), ('b6', 9);
  INSERT INTO held VALUES (1, 30, 'block.applied', 'e', 'block.applied', 8, 'b6', '{"height":8}');
  INSERT INTO endings VALUES (2, 3, 30, 'cancelled', 'removed', 1);
  INSERT INTO restarts VALUES (1);
  INSERT INTO replays VALUES (1, 2, 9, 4, 0, 5, 3, 'running', NULL, 100, NULL);
  INSERT INTO wanted VALUES ('block.applied', 12);`;

function openWithRows() {
  let version: number | undefined;
  const database = openConverted((earlier) => {
    earlier.execute(ROWS);
    version = earlier.prepare<{ version: number }>("SELECT version FROM register").get()?.version;
  });
  return { database, version };
}

test("All rows are read under the names of this version.", () => {
  const { database, version } = openWithRows();
  const log = createDeliveryLogStore(database);
  expect(["fact", "retracted", "ping"].map((id) => log.find(1, id)?.isUndone)).toEqual([
    undefined,
    true,
    undefined,
  ]);
  expect(log.find(1, "retracted")?.attempts).toEqual([
    { startedMs: 10, durationMs: 20, status: 200, response: "OK" },
  ]);
  const facts = createDeliveredFactStore(database);
  const blocks = [
    { height: 7, blockId: "b7" },
    { height: 7, blockId: "b6" },
  ];
  expect(facts.unretracted(blocks, 9).map(({ id }) => id)).toEqual(["fact"]);
  expect(createBlockRevertStore(database).count(["b6", "b7"], 9)).toEqual(
    new Map([
      ["b6", 1],
      ["b7", 0],
    ]),
  );
  const [confirmed] = createUnconfirmedEventStore(database).confirmedAt([20], 9);
  expect(confirmed?.events).toMatchObject([{ webhook: 1, logSequence: 30, timesReverted: 2 }]);
  expect(createReplayStore(database).find(1)).toMatchObject({ nextHeight: 4, lastDelivery: 3 });
  expect(createSubscribedEventStore(database).all()).toEqual(new Map([["block.applied", 12]]));
  expect(createWebhookStore(database).version()).toBe(version);
  expect(database.prepare("SELECT webhook FROM restarting_queues").all()).toEqual([{ webhook: 1 }]);
  expect(createFinishedDeliveryStore(database).step(50)).toMatchObject({ webhook: 2 });
  database.close();
});

test("Retractions, the triggers and the removal of a webhook work on them.", () => {
  const { database } = openWithRows();
  const count = (table: string) =>
    database.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n;
  const facts = createDeliveredFactStore(database);
  facts.retract(1, 60);
  expect(facts.unretracted([{ height: 7, blockId: "b7" }], 9)).toEqual([]);
  database.execute("UPDATE webhooks SET target_number = 2 WHERE id = 1");
  expect(count("attempt_counts")).toBe(0);
  database.execute("DELETE FROM deliveries WHERE number = 1");
  expect(count("contents")).toBe(2);
  database.execute("DELETE FROM deliveries WHERE number IN (2, 3)");
  expect([count("contents"), count("attempts")]).toEqual([0, 0]);
  database.execute("DELETE FROM webhooks");
  expect(["finishing_queues", "restarting_queues", "replays", "queues"].map(count)).toEqual([0, 0, 0, 0]);
  database.close();
});

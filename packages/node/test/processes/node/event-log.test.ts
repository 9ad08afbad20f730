import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { eventOfStart } from "../../../src/events/node-events.ts";
import { deadlineIn } from "../../../src/platform/threads/call.ts";
import { openNodeEventLog } from "../../../src/processes/node/event-log.ts";
import { type Database, openDatabase } from "../../../src/store/engine/database.ts";
import { migrate } from "../../../src/store/engine/migrations.ts";
import { COPY_READER } from "../../../src/store/events/subscribed-events.ts";

function open(webhooks: "on" | "off" = "on") {
  const database = openDatabase(":memory:");
  migrate(database);
  return openLog(database, { webhooks, feedBlocks: 0 });
}

function openLog(database: Database, options: Parameters<typeof openNodeEventLog>[0]) {
  const logger = pino({ level: "silent" });
  return openNodeEventLog(options, { database, logger }, (_, close) =>
    onTestFinished(() => close(deadlineIn(0))),
  );
}

test("Only subscribed events are written, and readers are notified after the commit.", async () => {
  const { subscribedEvents, events, reporter, grown } = open();
  let notified = 0;
  grown.subscribe(() => notified++);
  const event = eventOfStart(1_000);
  reporter.report(event);
  await Promise.resolve();
  expect([events.lastSequence(), notified]).toEqual([0, 0]);
  expect(subscribedEvents.streamsChanged([event.name])).toEqual({ [event.name]: 0 });
  reporter.report(event);
  expect(notified).toBe(0);
  await Promise.resolve();
  expect([events.lastSequence(), notified]).toEqual([1, 1]);
});

test("A node without webhooks writes events for live streams only.", () => {
  const { subscribedEvents } = open("off");
  subscribedEvents.webhooksChanged();
  expect(subscribedEvents.names().size).toBe(0);
});

test("The log keeps events for a mirror only while the node has a feed, and names of the mirror's database.", () => {
  const database = openDatabase(":memory:");
  migrate(database);
  const { events, subscribedEvents } = openLog(database, { webhooks: "off", feedBlocks: 10 });
  expect(events.cursor(COPY_READER)).toBeUndefined();
  subscribedEvents.replaceRemote(["node.started"]);
  expect(events.cursor(COPY_READER)).toBe(0);
  openLog(database, { webhooks: "off", feedBlocks: 0 });
  expect(events.cursor(COPY_READER)).toBeUndefined();
  openLog(database, { webhooks: "off", feedBlocks: 10 });
  expect(events.cursor(COPY_READER)).toBe(0);
});

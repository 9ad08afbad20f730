import pino from "pino";
import { expect, test } from "vitest";
import { eventOfStart } from "../../src/events/node-events.ts";
import { Reporter } from "../../src/processes/node/event-log.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";

const event = eventOfStart(1_000);

function open(...recordedNames: string[]) {
  const database = openDatabase(":memory:");
  migrate(database);
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const events = new EventLog(database, { recordedNames: () => new Set(recordedNames) });
  const seen: number[] = [];
  const onLogged = () => void seen.push(events.lastSequence());
  return { database, events, lines, seen, reporter: new Reporter({ database, events, onLogged, logger }) };
}

test("The reporter notifies readers when they can read the event, also from within a transaction.", async () => {
  const { database, reporter, seen } = open(event.name);
  database.transaction(() => {
    reporter.log(event);
    expect(seen).toEqual([]);
  });
  await Promise.resolve();
  expect(seen).toEqual([1]);
});

test("The reporter records no event without a subscriber.", async () => {
  const { events, reporter, seen } = open("block.applied");
  reporter.log(event);
  await Promise.resolve();
  expect(events.lastSequence()).toBe(0);
  expect(seen).toEqual([]);
});

test("The reporter throws if a future event cannot be written, and logs if a past one cannot.", () => {
  const { database, reporter, lines } = open(event.name);
  database.prepare("DROP TABLE events").run();
  expect(() => reporter.log(event)).toThrow("events");
  reporter.report(event);
  expect(lines).toMatchObject([{ events: [event.name], msg: "failed to write events; they are lost" }]);
});

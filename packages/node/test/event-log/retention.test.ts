import { expect, test, vi } from "vitest";
import { startEventRetention } from "../../src/event-log/retention.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";

const subscribedEvents = { dropExpired() {} };

function openLog() {
  const database = openDatabase(":memory:");
  migrate(database);
  const log = new EventLog(database, { recordedNames: () => new Set(["peer.added"]) });
  const add = (count: number) =>
    database.transaction(() =>
      log.append(Array.from({ length: count }, (_, index) => ({ id: `${index}`, name: "peer.added" }))),
    );
  return { database, log, add };
}

test("The retention drops the surplus in steps, again and again, until it is stopped.", async () => {
  const { database, log, add } = openLog();
  add(12_000);
  const onError = vi.fn();
  const end = startEventRetention(
    { maxEvents: 10, maxBytes: 1e9, maxAgeMs: 1e9 },
    { events: log, subscribedEvents, onError, everyMs: 1 },
  );
  await expect.poll(() => log.read(0, 20_000)).toHaveLength(10);
  add(5);
  await expect.poll(() => log.read(0, 20_000)).toHaveLength(10);
  end();
  database.close();
  expect(onError).not.toHaveBeenCalled();
});

test("The retention continues after an error.", async () => {
  const onError = vi.fn();
  let calls = 0;
  const prune = () => {
    if (++calls === 1) throw new Error("busy");
    return false;
  };
  const end = startEventRetention(
    { maxEvents: 1, maxBytes: 1e9, maxAgeMs: 1 },
    { events: { prune }, subscribedEvents, onError, everyMs: 1 },
  );
  await expect.poll(() => calls).toBeGreaterThan(2);
  end();
  expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("busy"));
});

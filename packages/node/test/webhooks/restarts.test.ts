import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { NO_WEBHOOK_OBSERVER, type WebhookObserver } from "../../src/webhooks/collaborators.ts";
import {
  always,
  blockApplied,
  type Call,
  createService,
  createTestClock,
  databasePath,
  heights,
  type Reply,
  settle,
} from "../../test-support/webhooks/support.ts";

describe("restarts", () => {
  test("Restarts lose no delivery and change no id, wherever the process ends.", async () => {
    const path = databasePath();
    const clock = createTestClock();
    const seen: Call[] = [];
    const reply = (call: Call): Reply => {
      seen.push(call);
      // Delivery 1 fails, the others never receive their responses.
      return call.message.height === 1 ? 500 : "never";
    };
    const first = createService({ path, clock, reply });
    await first.webhooks.register.create(always());
    await first.emit(blockApplied(1), blockApplied(2), blockApplied(3));
    // Logged, but the process ends before it is read.
    first.database.transaction(() => first.eventLog.append([blockApplied(4)]));
    await first.close();
    expect(heights(seen)).toEqual([1, 2, 3]);

    const second = createService({ path, clock });
    second.webhooks.notify();
    await clock.advance(5_000);
    seen.push(...second.calls);
    expect(heights(seen).sort()).toEqual([1, 1, 2, 2, 3, 3, 4]);
    const idsByHeight = Map.groupBy(seen, ({ message }) => message.height);
    for (const [height, calls] of idsByHeight) {
      expect([height, new Set(calls.map(({ message }) => message.id)).size]).toEqual([height, 1]);
    }
    expect(second.log(1, 10).map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 2],
    ]);
  });

  test("An older cursor creates no second delivery after a restart.", async () => {
    const { webhooks, emit, calls, eventLog } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    eventLog.moveCursor("webhooks", 0);
    await emit(blockApplied(3));
    expect(heights(calls)).toEqual([1, 2, 3]);
  });

  test("Restarts after a time without webhooks deliver no event of it, and send nothing that was queued.", async () => {
    const path = databasePath();
    const first = createService({ path, reply: () => 500 });
    await first.webhooks.register.create(always());
    await first.emit(blockApplied(1));
    // Behaviour of a node with webhooks disabled; it logs events for others.
    first.eventLog.removeCursor("webhooks");
    first.database.transaction(() => first.eventLog.append([blockApplied(2)]));
    await first.close();
    const second = createService({ path });
    await second.emit(blockApplied(3));
    await second.clock.advance(10_000);
    expect(heights(second.calls)).toEqual([3]);
    expect(second.log(1, 10)).toMatchObject([
      { height: 3, state: "delivered" },
      { height: 1, state: "failed", reason: "webhooks were off" },
    ]);
    // By then the block may have been verified.
    await second.webhooks.log.retry("1", "1");
    await second.clock.advance(0);
    expect(heights(second.calls)).toEqual([3, 1]);
  });

  test("Restarts activate a webhook whose creation was not finished.", async () => {
    const path = databasePath();
    const inserted = Promise.withResolvers<void>();
    const first = createService({
      path,
      webhooksChanged: () => {
        inserted.resolve();
        return new Promise(() => {});
      },
    });
    first.webhooks.register.create(always());
    await inserted.promise;
    await first.close();
    const second = createService({ path });
    await second.emit(blockApplied(1));
    expect(heights(second.calls)).toEqual([1]);
  });

  test("Many events are matched in several steps.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(...Array.from({ length: 120 }, (_, index) => blockApplied(index + 1)));
    for (let turn = 0; turn < 30 && calls.length < 120; turn++) await settle();
    expect(heights(calls)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
  });
});

test("A close waits briefly for responses in flight.", async () => {
  let respond: (reply: Reply) => void = () => {};
  const path = databasePath();
  const { webhooks, emit, close } = createService({
    path,
    options: { closeGraceMs: 60_000 },
    reply: () => new Promise<Reply>((resolve) => (respond = resolve)),
  });
  await webhooks.register.create(always());
  await emit(blockApplied(1));
  const closed = close();
  respond(200);
  await closed;
  const second = createService({ path });
  expect(second.log(1, 1)).toMatchObject([{ state: "delivered", attempts: [{ status: 200 }] }]);
});

test("A busy database delays deliveries and loses none.", async () => {
  const path = databasePath();
  const { webhooks, emit, calls, clock, database, log } = createService({ path });
  const { id } = await webhooks.register.create(always());
  // A trigger simulates any write that the database refuses.
  database.execute("CREATE TRIGGER refuse BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'no'); END");
  await emit(blockApplied(1));
  expect(calls).toHaveLength(1);
  expect(log(id, 1)).toMatchObject([{ state: "pending", attempts: [] }]);
  database.execute("DROP TRIGGER refuse");
  await clock.advance(1_000);
  expect(calls).toHaveLength(1);
  expect(log(id, 1)).toMatchObject([{ state: "delivered", attempts: [{ status: 200 }] }]);
});

test("A database that refuses all writes is retried once a second, and logged once.", async () => {
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  let failures = 0;
  const observer: WebhookObserver = {
    ...NO_WEBHOOK_OBSERVER,
    runEnded(error) {
      if (error !== undefined) failures++;
    },
  };
  const { webhooks, emit, calls, clock, database } = createService({ logger, observer });
  await webhooks.register.create(always());
  database.execute("CREATE TRIGGER refuse BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'no'); END");
  for (let height = 1; height <= 5; height++) await emit(blockApplied(height));
  await clock.advance(2_999);
  expect(failures).toBe(3);
  const ofRuns = () => lines.filter((line) => line.includes("webhook deliveries"));
  expect(ofRuns()).toEqual(["failed to run webhook deliveries; retrying every 1 s"]);
  database.execute("DROP TRIGGER refuse");
  await clock.advance(1_000);
  expect(heights(calls).sort()).toEqual([1, 2, 3, 4, 5]);
  expect(ofRuns().slice(1)).toEqual(["webhook deliveries run again"]);
});

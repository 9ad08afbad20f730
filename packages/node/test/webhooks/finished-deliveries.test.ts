/** Cancellation of long queues. */
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { Database } from "../../src/store/engine/database.ts";
import { createDeliveryRows } from "../../test-support/webhooks/sqlite-register.ts";
import {
  always,
  blockApplied,
  createService,
  databasePath,
  heights,
  type Service,
  settle,
} from "../../test-support/webhooks/support.ts";

const LENGTH = 12_345;

const states = (database: Database) =>
  database
    .prepare<{ state: string; total: number }>(
      "SELECT state, count(*) AS total FROM deliveries GROUP BY state ORDER BY state",
    )
    .all()
    .map(({ state, total }) => [state, total]);

/** Queue of first attempts and retries. */
function fill({ database }: Service): void {
  const deliveries = createDeliveryRows(database);
  const content = deliveries.insertContent();
  database.transaction(() => {
    for (let index = 0; index < LENGTH; index++) {
      const message = { webhook: 1, id: `${index}`, sequence: index + 1, event: "block.applied" };
      const number = deliveries.insert({ ...message, height: index, content }, 0);
      if (index % 2 === 0) deliveries.postpone(number, 0, "HTTP 500");
    }
  });
}

async function start(path = databasePath()) {
  const service = createService({ path });
  await service.webhooks.register.create(always());
  fill(service);
  return service;
}

describe("a cancelled long queue", () => {
  test("A cancelled long queue is cancelled in steps, and none of it is sent.", async () => {
    const { webhooks, database, clock, calls, emit } = await start();
    await webhooks.register.update("1", { order: "strict", queue: "drop" });
    expect(states(database)).toEqual([
      ["cancelled", 2_000],
      ["pending", LENGTH - 2_000],
    ]);
    // Deliveries that arrive meanwhile wait, and are sent afterwards.
    await emit(blockApplied(7));
    expect(calls).toEqual([]);
    await clock.advance(100);
    expect(states(database)).toEqual([
      ["cancelled", LENGTH],
      ["delivered", 1],
    ]);
    expect(heights(calls)).toEqual([7]);
  });

  test("A cancelled long queue is cancelled even if the process ends meanwhile.", async () => {
    const path = databasePath();
    const first = await start(path);
    await first.webhooks.register.update("1", { order: "strict", queue: "drop" });
    await first.close();
    const second = createService({ path });
    second.webhooks.notify();
    await settle();
    await second.clock.advance(100);
    expect(states(second.database)).toEqual([["cancelled", LENGTH]]);
    expect(second.calls).toEqual([]);
  });

  test("A cancelled long queue loses the facts that are deferred for confirmations, and none that are logged later.", async () => {
    const { webhooks, emit, clock, calls, database } = createService();
    await webhooks.register.create({ ...always(), confirmations: 5_000 });
    await emit(...Array.from({ length: 2_500 }, (_, index) => blockApplied(index + 1)));
    const deferred = () =>
      present(database.prepare<{ total: number }>("SELECT count(*) AS total FROM unconfirmed_events").get())
        .total;
    while (deferred() < 2_500) await settle();
    await webhooks.register.update("1", { confirmations: 1, queue: "drop" });
    await emit(blockApplied(2_501), blockApplied(2_502));
    await clock.advance(100);
    expect(heights(calls)).toEqual([2_501]);
    expect(deferred()).toBe(1);
  });

  test("A cancelled long queue of a removed webhook is dropped with its deferred facts.", async () => {
    const { webhooks, emit, clock, database } = createService();
    await webhooks.register.create({ ...always(), confirmations: 1 });
    await webhooks.register.create({ ...always(), confirmations: 1_000 });
    await emit(...Array.from({ length: 700 }, (_, index) => blockApplied(index + 1)));
    const rows = () =>
      ["unconfirmed_events", "deliveries", "removed_webhooks"].map(
        (table) =>
          present(database.prepare<{ total: number }>(`SELECT count(*) AS total FROM ${table}`).get()).total,
      );
    while (rows()[0] !== 701) await settle();
    for (const id of ["1", "2"]) await webhooks.register.remove(id);
    expect(rows()[0]).toBe(701);
    await clock.advance(60_000);
    await emit(blockApplied(701));
    await clock.advance(1_000);
    expect(rows()).toEqual([0, 0, 0]);
  });
});

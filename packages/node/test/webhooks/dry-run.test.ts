import { describe, expect, test } from "vitest";
import { HistoryError, type HistoryErrorCode } from "../../src/event-log/history.ts";
import type { Event } from "../../src/events/catalogue.ts";
import { blockApplied } from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

const transaction = (height: number, amount: string): Event => ({
  id: `transaction.applied:block${height}:0`,
  name: "transaction.applied",
  height,
  blockId: `block${height}`,
  data: { amount, asset: { payments: [1, 2, 3, 4, 5, 6, 7].map((amount) => ({ amount })) } },
});

/** Every block with a transaction of its height. */
const chainOf = (length: number) =>
  Array.from({ length }, (_, index) => [transaction(index + 1, `${index + 1}`), blockApplied(index + 1)]);

const above = (value: string) => ({ key: "amount", condition: "gt", value });

async function run(body: object, length = 10) {
  const { ask, calls, store } = await serve(undefined, { chain: chainOf(length) });
  const response = await ask("POST", "/api/webhooks/test", { body });
  expect([calls, store.count()]).toEqual([[], 0]);
  return response;
}

describe("a dry run", () => {
  test("A dry run returns the events that would match, and why the others do not.", async () => {
    const { status, body } = await run({ event: "transaction.applied", conditions: [above("9")], blocks: 2 });
    expect(status).toBe(200);
    const tried = (height: number, holds: boolean) => ({
      event: "transaction.applied",
      height,
      blockId: `block${height}`,
      data: transaction(height, `${height}`).data,
      conditions: [{ ...above("9"), holds, found: [`${height}`] }],
    });
    expect(body.data).toEqual({
      fromHeight: 9,
      toHeight: 10,
      fired: { count: 1, events: [tried(10, true)] },
      notFired: { count: 1, events: [tried(9, false)] },
      notRemembered: [],
    });
  });

  test("A dry run accepts everything that can be registered.", async () => {
    const { body } = await run({
      events: ["transaction.*", "block.applied", "wallet.saved"],
      match: "all",
      conditions: [above("9"), { key: "asset.payments.6.amount", condition: "eq", value: 7 }],
      target: "https://receiver.example/",
      enabled: "false",
      order: "strict",
    });
    const { fired, notFired, notRemembered, fromHeight } = body.data;
    expect([fromHeight, fired.count, notFired.count]).toEqual([1, 1, 19]);
    expect(notRemembered).toEqual([
      "transaction.expired",
      "transaction.forged",
      "transaction.pool.added",
      "transaction.pool.rejected",
      "transaction.pool.removed",
      "transaction.reverted",
      "wallet.saved",
    ]);
    // A block has no amount.
    expect(notFired.events[0]).toMatchObject({ event: "block.applied", height: 10 });
    expect(notFired.events[0].conditions[0]).toMatchObject({ holds: false, found: [] });
  });

  test("A dry run reads a hundred blocks by default, and lists the newest.", async () => {
    const conditions = [{ key: "id", condition: "ne", value: "" }];
    const { body } = await run({ event: "block.applied", conditions }, 150);
    expect(body.data).toMatchObject({ fromHeight: 51, toHeight: 150, fired: { count: 100 } });
    expect(body.data.fired.events.map(({ height }: { height: number }) => height)).toEqual(
      Array.from({ length: 20 }, (_, index) => 150 - index),
    );
  });

  test("A dry run returns nothing for an empty chain.", async () => {
    const { body } = await run({ event: "block.applied", conditions: [above("1")] }, 0);
    expect(body.data).toMatchObject({
      fromHeight: 1,
      toHeight: 0,
      fired: { count: 0 },
      notFired: { count: 0 },
    });
  });

  test.each<[HistoryErrorCode, number, string]>([
    ["HISTORY_BUILDING", 503, "NODE_STARTING"],
    ["HISTORY_UNREADABLE", 503, "DATABASE_UNREACHABLE"],
    ["HISTORY_DAMAGED", 500, "INTERNAL_ERROR"],
  ])("that fails with %s gets %i %s", async (code, status, shown) => {
    const fail = () => {
      throw new HistoryError(code, "of the operator");
    };
    const { ask } = await serve(undefined, {
      createPastEvents: () => ({ head: fail, eventsAt: fail }),
    });
    const body = { event: "block.applied", conditions: [above("1")] };
    const response = await ask("POST", "/api/webhooks/test", { body });
    expect(response).toMatchObject({ status, body: { code: shown } });
    expect(response.text).not.toContain("of the operator");
  });

  test.each<[string, object]>([
    ["no event", { conditions: [above("1")] }],
    ["no conditions", { event: "block.applied" }],
    ["invalid conditions", { event: "block.applied", conditions: "always" }],
    ["a bad condition", { event: "block.applied", conditions: [{ key: "a", condition: "like" }] }],
    ["too many blocks", { event: "block.applied", conditions: [above("1")], blocks: 1_001 }],
    ["blocks as text", { event: "block.applied", conditions: [above("1")], blocks: "5" }],
    ["something more", { event: "block.applied", conditions: [above("1")], foo: 1 }],
  ])("with %s is refused", async (_name, body) => {
    expect((await run(body)).status).toBe(422);
  });
});

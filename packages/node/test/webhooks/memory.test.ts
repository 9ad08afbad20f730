/** Memory usage of a long queue. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { always, blockApplied, createService, settle } from "../../test-support/webhooks/support.ts";

test("A queue of an unreachable target costs disk space, and hardly any memory.", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const heap = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const { webhooks, database, eventLog, calls } = createService({
    reply: () => new Error("connect ECONNREFUSED"),
  });
  await webhooks.register.create(always());
  const padding = "x".repeat(1_000);
  let height = 0;
  const queue = async (events: number) => {
    const until = height + events;
    while (height < until) {
      const blocks = Array.from({ length: 500 }, () => blockApplied(++height));
      database.transaction(() =>
        eventLog.append(blocks.map((block) => ({ ...block, data: { ...(block.data as object), padding } }))),
      );
      webhooks.notify();
      while (eventLog.cursor("webhooks") !== eventLog.lastSequence()) await settle();
    }
  };
  await queue(1_000);
  const before = heap();
  await queue(20_000);
  const grown = heap() - before;
  const { total } = present(
    database
      .prepare<{ total: number }>("SELECT count(*) AS total FROM deliveries WHERE state = 'pending'")
      .get(),
  );
  expect(total).toBe(21_000);
  // The bodies alone are 20 MB.
  expect(grown).toBeLessThan(4_000_000);
  // An unreachable target does not receive a request for each of them.
  expect(calls.length).toBeLessThan(50);
});

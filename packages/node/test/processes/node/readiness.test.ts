import { expect, test } from "vitest";
import { Readiness } from "../../../src/processes/node/forging.ts";

test("The start is reported when the node is in sync, and not before.", async () => {
  const reported: string[] = [];
  const readiness = new Readiness({
    reporter: { report: (...events) => void reported.push(...events.map(({ name }) => name)) },
    nowMs: () => 1_000,
  });
  let isReached = false;
  void readiness.reached.then(() => {
    isReached = true;
  });
  await Promise.resolve();
  expect([isReached, reported]).toEqual([false, []]);
  readiness.reach();
  await readiness.reached;
  expect([isReached, reported]).toEqual([true, ["state.started"]]);
});

import { expect, test } from "vitest";
import { createReadiness } from "../../../src/processes/node/forging.ts";

test("The start is reported when the node is in sync, and not before.", async () => {
  const reported: string[] = [];
  const { reach, reached } = createReadiness({
    report: (...events) => void reported.push(...events.map(({ name }) => name)),
    nowMs: () => 1_000,
  });
  let isReached = false;
  void reached.then(() => {
    isReached = true;
  });
  await Promise.resolve();
  expect([isReached, reported]).toEqual([false, []]);
  reach();
  await reached;
  expect([isReached, reported]).toEqual([true, ["state.started"]]);
});

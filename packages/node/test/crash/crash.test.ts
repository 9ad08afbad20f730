import { expect, test } from "vitest";
import { runCrashes } from "../../test-support/crash/crashes.ts";

/** The long run: `npm run crash -- 200`. */
test("a node that is killed at random moments loses no accepted transaction and delivers every fact", async () => {
  const report = await runCrashes({ kills: 6, seed: 20_261_121, log: () => {} });
  expect(report.facts).toBeGreaterThan(0);
});

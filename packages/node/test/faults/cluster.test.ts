/** A short run of the cluster with short faults; the long ones: `npm run faults -- cluster --count 20`. */
import { expect, test } from "vitest";
import { scenario } from "../../test-support/faults/cluster/run.ts";
import { runScenario } from "../../test-support/faults/scenario.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

test.skipIf(!hasPostgres)("A cluster under faults loses, repeats and reorders nothing.", async () => {
  const only = ["all workers killed", "database killed", "handed over"];
  const { faults, figures } = await runScenario(scenario, { seed: 1, seconds: 3, only, log: () => {} });
  expect(faults).toEqual([]);
  expect(figures.arrived).toBe(figures.expected);
  expect(figures.expected).toBeGreaterThan(100);
  expect(figures.reads).toBeGreaterThan(10);
});

/** A short run of the cluster with short faults; the long ones: `npm run faults -- cluster --count 20`. */
import { expect, test } from "vitest";
import { runCluster } from "../../test-support/faults/cluster/run.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";

test.skipIf(!hasPostgres)("A cluster under faults loses, repeats and reorders nothing.", async () => {
  const only = ["all workers killed", "database killed", "handed over"];
  const { faults, figures } = await runCluster({ seed: 1, seconds: 3, only, log: () => {} });
  expect(faults).toEqual([]);
  expect(figures.arrived).toBe(figures.expected);
  expect(figures.expected).toBeGreaterThan(100);
  expect(figures.reads).toBeGreaterThan(10);
});

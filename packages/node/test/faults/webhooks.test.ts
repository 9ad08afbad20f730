/** Short runs of a dev chain under faults; the long ones: `npm run faults -- webhooks --minutes 10`. */
import { describe, expect, test } from "vitest";
import { runScenario } from "../../test-support/faults/scenario.ts";
import { scenario } from "../../test-support/faults/webhooks/run.ts";

/** Seeds that once found a defect. */
const SEEDS = [
  { name: "the disk is full while the forger reports a failure", seed: 1 },
  { name: "the disk is full while the pool is written, and no request waits for it", seed: 2015 },
];

describe.concurrent("a node that is killed at random moments", () => {
  test.each(SEEDS)(
    "A node that is killed at random moments delivers the facts of the chain to every receiver: $name",
    async ({ seed }) => {
      const { faults, figures } = await runScenario(scenario, { seed, seconds: 3, log: () => {} });
      expect(faults).toEqual([]);
      expect(figures.deliveries).toBeGreaterThan(0);
    },
  );

  test("A node that is killed at random moments loses no accepted transaction.", async () => {
    const only = ["submission", "pause"];
    const { faults, figures } = await runScenario(scenario, { seed: 3, seconds: 8, only, log: () => {} });
    expect(faults).toEqual([]);
    expect(figures.kills).toBeGreaterThan(2);
    expect(figures.accepted).toBeGreaterThanOrEqual(10);
  });
});

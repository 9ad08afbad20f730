import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { simulate } from "../../test-support/simulation/simulate.ts";

/** Seeds that once found a defect. `npm run simulate -- --keep NAME` adds to them. */
const SEEDS = JSON.parse(
  readFileSync(new URL("../../test-support/simulation/seeds.json", import.meta.url), "utf8"),
) as {
  readonly name: string;
  readonly seed: number;
}[];

/** The long run: `npm run simulate -- --minutes 10`. */
test.concurrent.each(SEEDS)("every receiver has the facts of the chain: $name", async ({ seed }) => {
  const { faults, deliveries } = await simulate({ seed, seconds: 3, log: () => {} });
  expect(faults).toEqual([]);
  expect(deliveries).toBeGreaterThan(0);
});

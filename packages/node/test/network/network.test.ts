/** Two minutes of a network with faults; `npm run network` runs longer ones. */
import { expect, test } from "vitest";
import { missingForHosts } from "../../test-support/network/namespaces.ts";
import { runTrial } from "../../test-support/network/trial.ts";

const missing = missingForHosts();
const name = missing ? `seven nodes in trouble (not here: ${missing})` : "seven nodes in trouble";

test.skipIf(missing !== undefined)(name, { timeout: 600_000 }, async () => {
  const logged: string[] = [];
  const trial = await runTrial({
    seed: 20_261_121,
    nodes: 7,
    seconds: 90,
    blocktime: 4,
    log: (line) => logged.push(line),
  });
  expect(trial.faults, logged.join("\n")).toEqual([]);
  expect(trial.height).toBeGreaterThan(10);
  expect(trial.comparedTrees).toBeGreaterThan(3);
  expect(trial.missingTypes).toEqual([]);
});

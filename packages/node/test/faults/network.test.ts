/** A network of seven nodes under faults for 90 s; longer ones: `npm run faults -- network`. */
import { expect, test } from "vitest";
import { scenario } from "../../test-support/faults/network/run.ts";
import { runScenario } from "../../test-support/faults/scenario.ts";
import { skips } from "../../test-support/process/available.ts";
import { missingForHosts } from "../../test-support/process/hosts.ts";

const isSkipped = skips(missingForHosts());

test.skipIf(isSkipped)(
  "Seven nodes that are killed, stopped and disconnected agree on one chain.",
  async () => {
    const logged: string[] = [];
    const log = (line: string) => void logged.push(line);
    const { faults, figures } = await runScenario(scenario, { seed: 20_261_121, seconds: 90, log });
    expect(faults, logged.join("\n")).toEqual([]);
    expect(figures.height).toBeGreaterThan(10);
    expect(figures.comparedTrees).toBeGreaterThan(3);
  },
);

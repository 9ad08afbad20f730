/** Every scenario against a sound receiver, and against receivers with one defect each. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Outcome, playScenarios, SCENARIOS } from "../../src/conform/run.ts";
import type { StageOptions } from "../../src/conform/stage.ts";
import { DEFECTS } from "../../test-support/conform/defects/list.ts";
import { type Parts, SOUND, startReceiver, TOKEN } from "../../test-support/conform/receiver.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

/** A scenario that fails needs the whole time of a view. */
const PACE = { timeoutMs: WAIT_MS / 12, viewMs: WAIT_MS / 300, settleMs: 5, pieceMs: 10 };
const names = SCENARIOS.map(({ name }) => name);

async function playAgainst(parts: Partial<Parts>, viewMs = PACE.viewMs): Promise<readonly Outcome[]> {
  const receiver = await startReceiver({ ...SOUND, ...parts });
  const options: StageOptions = {
    ...{ target: receiver.url, probe: `${receiver.url}/conform`, token: TOKEN, webhook: 7, ...PACE, viewMs },
    event: "transaction.applied",
  };
  try {
    return await playScenarios(SCENARIOS, options, {
      ...{ signal: new AbortController().signal, restart: receiver.restart },
      onOutcome: () => {},
    });
  } finally {
    await receiver.close();
  }
}

const failedIn = (outcomes: readonly Outcome[]): string[] =>
  outcomes.filter(({ state }) => state === "failed").map(({ scenario }) => scenario.name);

test("There are at least 25 scenarios, and their names are unique.", () => {
  expect(names.length).toBeGreaterThanOrEqual(25);
  expect(new Set(names).size).toBe(names.length);
});

test("A sound receiver passes every scenario.", async () => {
  const outcomes = await playAgainst({});
  expect(outcomes.map(({ scenario, state }) => `${scenario.name} ${state}`)).toEqual(
    names.map((name) => `${name} passed`),
  );
});

test("A receiver that responds before it processes a delivery passes, unless it restarts in between.", async () => {
  let processed: Promise<unknown> = Promise.resolve();
  const handle: Parts["handle"] = (delivery, received) => {
    processed = processed.then(() => sleep(10)).then(() => SOUND.handle(delivery, received));
  };
  const failed = failedIn(await playAgainst({ handle }, WAIT_MS));
  expect(failed.filter((name) => !name.endsWith("-after-restart"))).toEqual([]);
});

test.concurrent.for(DEFECTS)(
  "A receiver that $name fails the scenarios of this rule, and no others.",
  async ({ parts, fails }) => {
    expect(failedIn(await playAgainst(parts))).toEqual(fails);
  },
);

test("Every scenario fails for a defect.", () => {
  const failing = new Set(DEFECTS.flatMap(({ fails }) => fails));
  expect(names.filter((name) => !failing.has(name))).toEqual([]);
  expect([...failing].filter((name) => !names.includes(name))).toEqual([]);
});

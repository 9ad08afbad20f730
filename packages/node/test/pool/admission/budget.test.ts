import { describe, expect, test } from "vitest";
import { AdmissionBudget } from "../../../src/pool/admission/requests.ts";

function openBudget() {
  let now = 1_000;
  let isBusy = false;
  const budget = new AdmissionBudget({ slotMs: () => 1_000, isChainBusy: () => isBusy, nowMs: () => now });
  return {
    pauseMs: () => budget.pauseMs(),
    figures: () => budget.figures(),
    pass: (ms: number) => {
      now += ms;
    },
    use: (ms: number) => {
      now += ms;
      budget.spend(ms);
    },
    setBusy: (value: boolean) => {
      isBusy = value;
    },
  };
}

describe("the time budget of submissions", () => {
  test("The time budget of submissions is a share of each slot; then they wait for the next one.", () => {
    const { pauseMs, use, pass, figures } = openBudget();
    for (let used = 0; used < 600; used += 10) {
      expect(pauseMs()).toBe(0);
      use(10);
    }
    expect(pauseMs()).toBe(400);
    expect(figures()).toEqual({ usedMs: 600, perSlotMs: 600, exhaustedSlots: 1 });
    pass(399);
    expect(pauseMs()).toBe(1);
    pass(1);
    expect(pauseMs()).toBe(0);
    expect(figures().exhaustedSlots).toBe(1);
  });

  test("The time budget of submissions starts again with the first submission after a pause.", () => {
    const { pauseMs, use, pass } = openBudget();
    use(600);
    pass(100_000);
    expect(pauseMs()).toBe(0);
    use(590);
    expect(pauseMs()).toBe(0);
  });

  test("The time budget of submissions is a slice every 100 ms while blocks are processed.", () => {
    const { pauseMs, use, pass, setBusy } = openBudget();
    setBusy(true);
    expect(pauseMs()).toBe(0);
    use(10);
    expect(pauseMs()).toBe(100);
    pass(60);
    expect(pauseMs()).toBe(40);
    setBusy(false);
    expect(pauseMs()).toBe(0);
  });
});

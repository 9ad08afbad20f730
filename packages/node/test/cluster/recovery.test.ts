/** The wait for a cluster to catch up. */
import { describe, expect, test } from "vitest";
import type { Lags } from "../../test-support/cluster/progress.ts";
import { recover } from "../../test-support/cluster/recovery.ts";

const BEHIND: Lags = { blocks: 0, events: 7_000, calls: 6_000, reads: 100 };
const CAUGHT_UP: Lags = { blocks: 0, events: 0, calls: 4_000, reads: 100 };

/** Waits with a cluster that has caught up after some periods, on a machine with this share of free processors. */
async function wait(periods: number, free: number) {
  let watches = 0;
  const changes: string[] = [];
  const recovery = await recover(
    {
      progress: { lags: () => (watches > periods ? CAUGHT_UP : BEHIND) },
      load: {
        pause: async () => void changes.push("paused"),
        resume: async () => void changes.push("resumed"),
      },
    },
    {
      periodMs: 1,
      watchFree() {
        watches++;
        return () => free;
      },
    },
  );
  return { ...recovery, changes };
}

describe("a cluster", () => {
  test("that catches up at once has recovered", async () => {
    expect(await wait(0, 0)).toEqual({ behind: undefined, isBusy: false, changes: [] });
  });

  test("that lags on a machine with free processors has failed", async () => {
    expect(await wait(1, 0.5)).toEqual({
      behind: "events are 7.0 s behind, calls are 6.0 s behind",
      isBusy: false,
      changes: [],
    });
  });

  test("has more time and no load on a machine without free processors, but not for ever", async () => {
    const changes = ["paused", "resumed"];
    expect(await wait(3, 0.02)).toEqual({ behind: undefined, isBusy: true, changes });
    const behind = expect.stringContaining("7.0 s");
    expect(await wait(1_000, 0.02)).toEqual({ behind, isBusy: true, changes });
  });
});

import { expect, onTestFinished, test, vi } from "vitest";
import type { NodeStatus } from "../../../src/gateway/gateway.ts";
import { Health } from "../../../src/operations/health.ts";
import type { WebhookFigures } from "../../../src/webhooks/figures.ts";

const STATUS: NodeStatus = { synced: true, now: 17, blocksCount: 0, timestamp: 100 };
const WEBHOOKS: WebhookFigures = { active: 1, disabled: 0, suspended: 0, fired: 5, unmatched: 0 };

const SOUND = {
  consensusSilentSeconds: () => 0,
  writeTrouble: () => undefined as string | undefined,
  freeBytes: () => 200 * 1_048_576,
};

function open(status: NodeStatus | undefined = STATUS, webhooks: WebhookFigures = WEBHOOKS) {
  const clock = { nowMs: 1_000_000 };
  const health = new Health({
    ...SOUND,
    status: async () => status,
    webhooks: async () => webhooks,
    nowMs: () => clock.nowMs,
  });
  return { clock, health };
}

test("A working node is ready.", async () => {
  expect(await open().health.ready()).toEqual({
    isReady: true,
    checks: {
      consensus: { ok: true, detail: "responds" },
      disk: { ok: true, detail: "200 MiB free" },
      chain: { ok: true, detail: "at height 17" },
      matcher: { ok: true, detail: "0 events not matched" },
      dispatcher: { ok: true, detail: "runs" },
    },
  });
});

test("A node whose consensus does not respond is not ready.", async () => {
  const health = new Health({
    ...SOUND,
    status: async () => undefined,
    webhooks: async () => WEBHOOKS,
    nowMs: () => 0,
  });
  expect(await health.ready()).toMatchObject({
    isReady: false,
    checks: { consensus: { ok: false, detail: "does not respond" } },
  });
});

test("A node far behind the network is not ready, one that is a few blocks behind is.", async () => {
  expect((await open({ ...STATUS, blocksCount: 10 }).health.ready()).isReady).toBe(true);
  expect(await open({ ...STATUS, blocksCount: 11 }).health.ready()).toMatchObject({
    isReady: false,
    checks: { chain: { ok: false, detail: "11 blocks behind the network" } },
  });
});

test("A node with an old head that knows no peer is not ready.", async () => {
  expect(await open({ ...STATUS, isIsolated: true }).health.ready()).toMatchObject({
    isReady: false,
    checks: { chain: { ok: false, detail: "at height 17, which is old, and no peer is known" } },
  });
});

test("A node whose head is in the future is not ready, and says when it will be.", async () => {
  const futureHead = "the head is in the future: forging resumes at 2026-01-02T00:00:00.000Z";
  expect(await open({ ...STATUS, futureHead }).health.ready()).toMatchObject({
    isReady: false,
    checks: { chain: { ok: false, detail: futureHead } },
  });
});

test("A node whose matcher lags is not ready.", async () => {
  const { clock, health } = open(STATUS, { ...WEBHOOKS, unmatched: 3, unmatchedSinceMs: 1_000_000 });
  clock.nowMs += 30_000;
  expect((await health.ready()).isReady).toBe(true);
  clock.nowMs += 1_000;
  expect(await health.ready()).toMatchObject({
    isReady: false,
    checks: { matcher: { ok: false, detail: "3 events not matched, the oldest for 31 s" } },
  });
});

test("A node whose dispatcher is blocked is not ready until it runs again, even if its clock is set back.", async () => {
  const { clock, health } = open();
  let passedMs = 0;
  const monotonic = vi.spyOn(performance, "now").mockImplementation(() => passedMs);
  onTestFinished(() => monotonic.mockRestore());
  health.runEnded(new Error("disk is full"));
  passedMs += 5_000;
  health.runEnded(new Error("disk is full"));
  expect((await health.ready()).isReady).toBe(true);
  passedMs += 6_000;
  clock.nowMs -= 3_600_000;
  expect(await health.ready()).toMatchObject({
    isReady: false,
    checks: { dispatcher: { ok: false, detail: "has been failing for 11 s: disk is full" } },
  });
  health.runEnded();
  expect((await health.ready()).isReady).toBe(true);
});

test("A node whose consensus thread is blocked is neither live nor ready, and is not queried.", async () => {
  let silentSeconds = 9;
  let requested = 0;
  const health = new Health({
    ...SOUND,
    status: async () => {
      requested++;
      return STATUS;
    },
    consensusSilentSeconds: () => silentSeconds,
    webhooks: undefined,
    nowMs: () => 0,
  });
  expect([health.live().ok, (await health.ready()).isReady, requested]).toEqual([true, true, 1]);
  silentSeconds = 12;
  expect(health.live()).toEqual({ ok: false, detail: "has been blocked for 12 s" });
  expect(await health.ready()).toMatchObject({
    isReady: false,
    checks: { consensus: { ok: false, detail: "has been blocked for 12 s" } },
  });
  expect(requested).toBe(1);
});

test("A node that cannot write is not ready until it can.", async () => {
  let trouble: string | undefined = "disk full";
  const health = new Health({
    ...SOUND,
    status: async () => STATUS,
    writeTrouble: () => trouble,
    webhooks: undefined,
    nowMs: () => 0,
  });
  expect(await health.ready()).toMatchObject({
    isReady: false,
    checks: { disk: { ok: false, detail: "not writable: disk full: 200 MiB free" } },
  });
  trouble = undefined;
  expect((await health.ready()).isReady).toBe(true);
});

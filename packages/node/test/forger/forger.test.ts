import { type BlockHeader, createNetwork, createSlots, livenet } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { delegatesFromSecrets } from "../../src/forger/delegates.ts";
import { createForger, type ForgedBlock, type ForgerDeps } from "../../src/forger/forger.ts";
import { soloTiming } from "../../src/forger/timing.ts";
import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrations.ts";
import { createSlotStore } from "../../src/store/slots.ts";

const slots = createSlots(createNetwork(livenet));
const delegates = delegatesFromSecrets(["one", " two ", "two"]);
const [one, two] = [...delegates.keys()] as [string, string];
const START_SLOT = 1000;

function headerAt(slot: number): BlockHeader {
  return { id: `block of slot ${slot}`, height: slot, timestamp: slots.slotTime(slot) } as BlockHeader;
}

/** A chain that takes every block, and what happened to it. */
function world(changes: Partial<ForgerDeps> = {}, onDemand = false) {
  const database = openDatabase(":memory:");
  migrate(database);
  const slotStore = createSlotStore(database);
  const forged: number[] = [];
  const failures: string[] = [];
  let head = headerAt(START_SLOT - 10);
  const deps: ForgerDeps = {
    delegates,
    slots,
    slotStore,
    head: () => head,
    forgingOrder: () => [one, two, "somebody else"],
    selectTransactions: () => [],
    build: ({ slot }) => ({ header: headerAt(slot), transactions: [] }),
    submit: async (block: ForgedBlock) => {
      head = block.header;
      forged.push(slots.slotAt(head.timestamp));
      return undefined;
    },
    obstacle: () => undefined,
    onStarted: () => {},
    onForged: () => {},
    onFailed: ({ message }) => failures.push(message),
    nowMs: () => Date.now(),
    logger: pino({ level: "silent" }),
    ...changes,
  };
  return { forger: createForger({ timing: soloTiming, onDemand }, deps), deps, slotStore, forged, failures };
}

const slotMs = slots.blocktime * 1000;

beforeEach(() => {
  vi.useFakeTimers({ now: slots.unixMsOf(slots.slotTime(START_SLOT)) + 100 });
});
afterEach(() => {
  vi.useRealTimers();
});

test("secrets are trimmed, and repeated ones count once", () => {
  expect(delegates.size).toBe(2);
});

describe("forging", () => {
  test("takes the slots of its delegates and leaves those of others", async () => {
    const { forger, forged } = world();
    forger.start();
    await vi.advanceTimersByTimeAsync(6 * slotMs);
    await forger.stop();
    const ours = [1001, 1002, 1003, 1004, 1005, 1006].filter((slot) => slot % 3 !== 2);
    expect(forged).toEqual(ours);
  });

  test("never forges in the slot in which the process started", async () => {
    const { forger, forged } = world({ forgingOrder: () => [one] });
    forger.start();
    await vi.advanceTimersByTimeAsync(slotMs - 200);
    expect(forged).toEqual([]);
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 1]);
  });

  test("records the slot before the block leaves, and never forges it again", async () => {
    let recorded: number | undefined;
    const first = world({ forgingOrder: () => [one] });
    const submit = first.deps.submit;
    first.deps.submit = (block) => {
      recorded = first.slotStore.lastForged(one);
      return submit(block);
    };
    first.slotStore.recordForged(one, START_SLOT + 1, "by an earlier process");
    first.forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    await first.forger.stop();
    expect(first.forged).toEqual([START_SLOT + 2]);
    expect(recorded).toBe(START_SLOT + 2);
  });
});

describe("a missed slot has a recorded reason", () => {
  test("an obstacle", async () => {
    const { forger, forged, slotStore } = world({ forgingOrder: () => [one], obstacle: () => "catching up" });
    forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    await forger.stop();
    expect(forged).toEqual([]);
    expect(slotStore.missed(1)).toEqual([{ slot: START_SLOT + 2, publicKey: one, reason: "catching up" }]);
  });

  test("a process that was busy or asleep", async () => {
    const { forger, slotStore } = world({ forgingOrder: () => [one] });
    forger.start();
    vi.setSystemTime(Date.now() + 3 * slotMs);
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(slotStore.missed(9).map(({ slot }) => slot)).toContain(START_SLOT + 3);
  });

  test("a block that the chain refuses", async () => {
    const { forger, failures, slotStore } = world({ forgingOrder: () => [one], submit: async () => "wrong" });
    forger.start();
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(failures).toEqual([expect.stringContaining("was refused: wrong")]);
    expect(slotStore.missed(1)[0]?.reason).toBe("the block was refused: wrong");
  });
});

describe("on demand", () => {
  test("nothing is forged unasked, and one block for each asking", async () => {
    const { forger, forged } = world({ forgingOrder: () => [one] }, true);
    forger.start();
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    expect(forged).toEqual([]);
    forger.demand();
    await vi.advanceTimersByTimeAsync(0);
    expect(forged).toEqual([START_SLOT + 3]);
    forger.demand();
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 3, START_SLOT + 4]);
  });
});

import {
  type BlockHeader,
  createNetwork,
  createSlots,
  type EncodedBlock,
  livenet,
  type SealedTransaction,
} from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { delegatesFromSecrets } from "../../src/forger/delegates.ts";
import { Forger, type ForgerDeps } from "../../src/forger/forger.ts";
import {
  Guard,
  type GuardDeps,
  recordInDatabase,
  type SigningRecord,
} from "../../src/forger/signing/guard.ts";
import { soloTiming } from "../../src/forger/slot-state.ts";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { SlotStore } from "../../src/store/node/slots.ts";

const slots = createSlots(createNetwork(livenet));
const delegates = delegatesFromSecrets(["one", " two ", "two"]);
const [one, two] = [...delegates.keys()] as [string, string];
const START_SLOT = 1000;

function headerAt(slot: number): BlockHeader {
  const [id, timestamp] = [`block of slot ${slot}`, slots.slotTime(slot)];
  return { id, height: slot, timestamp, generatorPublicKey: one } as BlockHeader;
}

/** Chain that accepts every block, and a record of its calls. */
function world(changes: Partial<ForgerDeps> = {}, onDemand = false) {
  const database = openDatabase(":memory:");
  migrate(database);
  const slotStore = new SlotStore(database);
  const forged: number[] = [];
  const failures: string[] = [];
  const refused: string[] = [];
  let head = headerAt(START_SLOT - 10);
  const deps: ForgerDeps = {
    delegates,
    slots,
    slotStore,
    guard: new Guard({
      record: recordInDatabase(slotStore),
      otherForger: undefined,
      slotOf: ({ timestamp }) => slots.slotAt(timestamp),
      onRefused: (kind) => refused.push(kind),
    }),
    head: () => head,
    forgingOrder: () => [one, two, "another"],
    selectTransactions: () => [],
    build: ({ slot }) => ({ header: headerAt(slot), headerBytes: new Uint8Array(), transactions: [] }),
    submitBlock: async (block: EncodedBlock) => {
      head = block.header;
      forged.push(slots.slotAt(head.timestamp));
      return undefined;
    },
    preflight: async () => undefined,
    onStarted: () => {},
    onForged: () => {},
    onFailed: ({ message }) => failures.push(message),
    nowMs: () => Date.now(),
    logger: pino({ level: "silent" }),
    ...changes,
  };
  return {
    forger: new Forger({ timing: soloTiming, onDemand }, deps),
    deps,
    slotStore,
    forged,
    failures,
    refused,
  };
}

const slotMs = slots.blocktime * 1000;

beforeEach(() => {
  vi.useFakeTimers({ now: slots.unixMsOf(slots.slotTime(START_SLOT)) + 100 });
});
afterEach(() => {
  vi.useRealTimers();
});

test("Secrets are trimmed, and repeated ones count once.", () => {
  expect(delegates.size).toBe(2);
});

describe("forging", () => {
  test("Forging uses the slots of its delegates and skips the slots of others.", async () => {
    const { forger, forged } = world();
    forger.start();
    await vi.advanceTimersByTimeAsync(6 * slotMs);
    await forger.stop();
    const ours = [1001, 1002, 1003, 1004, 1005, 1006].filter((slot) => slot % 3 !== 2);
    expect(forged).toEqual(ours);
  });

  test("Forging never uses the slot in which the process started.", async () => {
    const { forger, forged } = world({ forgingOrder: () => [one] });
    forger.start();
    await vi.advanceTimersByTimeAsync(slotMs - 200);
    expect(forged).toEqual([]);
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 1]);
  });

  test("Forging continues at once when a clock that was ahead at the start is corrected.", async () => {
    const { forger, forged } = world({ forgingOrder: () => [one] });
    vi.setSystemTime(slots.unixMsOf(slots.slotTime(START_SLOT + 9_000)));
    forger.start();
    vi.setSystemTime(slots.unixMsOf(slots.slotTime(START_SLOT)) + 100);
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    await forger.stop();
    expect(forged).toContain(START_SLOT + 3);
  });

  test("Forging continues at once when a clock that was behind the chain is corrected.", async () => {
    let head = headerAt(START_SLOT + 100);
    const submit = async (block: EncodedBlock) => {
      head = block.header;
      return undefined;
    };
    const { forger } = world({ forgingOrder: () => [one], head: () => head, submitBlock: submit });
    forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    vi.setSystemTime(slots.unixMsOf(slots.slotTime(START_SLOT + 110)) + 100);
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    await forger.stop();
    expect(slots.slotAt(head.timestamp)).toBeGreaterThan(START_SLOT + 109);
  });

  test("Forging records the slot before the block is sent, and never forges it again.", async () => {
    let recorded: number | undefined;
    const first = world({ forgingOrder: () => [one] });
    const submit = first.deps.submitBlock;
    first.deps.submitBlock = (block) => {
      recorded = first.slotStore.forgedBy(one)?.slot;
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
  test("A slot missed on a full disk has a recorded reason, also one that passes while the forger pauses.", async () => {
    const full = Object.assign(new Error("could not be committed"), {
      cause: Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" }),
    });
    const { forger, slotStore, failures } = world({
      forgingOrder: () => [one],
      submitBlock: async () => {
        throw full;
      },
    });
    forger.start();
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    await forger.stop();
    const reasons = slotStore.missed(10).map(({ reason }) => reason);
    expect(reasons.length).toBeGreaterThan(1);
    expect(new Set(reasons)).toEqual(new Set(["failed to write the block to the database: disk full"]));
    expect(failures.length).toBeGreaterThan(0);
  });

  test("A slot has a recorded reason for a preflight failure that lasts for the complete slot.", async () => {
    const preflight = async () => "catching up";
    const { forger, forged, slotStore } = world({ forgingOrder: () => [one], preflight });
    forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    await forger.stop();
    expect(forged).toEqual([]);
    expect(slotStore.missed(1)).toEqual([{ slot: START_SLOT + 1, publicKey: one, reason: "catching up" }]);
  });

  test("A slot has no recorded reason for a preflight failure that ends within the slot.", async () => {
    let tries = 0;
    const preflight = async () => (++tries < 5 ? "behind" : undefined);
    const { forger, forged, slotStore } = world({ forgingOrder: () => [one], preflight });
    forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs - 200);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 1]);
    expect(slotStore.missed(1)).toEqual([]);
  });

  test("Nothing is forged on a head that was replaced during the network check.", async () => {
    let head = headerAt(START_SLOT - 10);
    const preflight = async () => {
      head = headerAt(START_SLOT + 1);
      return undefined;
    };
    const { forger, forged } = world({ forgingOrder: () => [one], head: () => head, preflight });
    forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs - 200);
    await forger.stop();
    expect(forged).toEqual([]);
  });

  test("A slot of another delegate is not missed, whatever the order of the next round.", async () => {
    const orders = [
      ["another", one],
      [one, "another"],
    ];
    const currentSlot = () => slots.slotAt(slots.timeAt(Date.now()));
    const { forger, slotStore } = world({
      forgingOrder: () => present(orders[currentSlot() % 2], "an item of orders"),
    });
    forger.start();
    await vi.advanceTimersByTimeAsync(4 * slotMs);
    await forger.stop();
    expect(slotStore.missed(9)).toEqual([]);
  });

  test("A missed slot records a process that was busy or suspended.", async () => {
    const { forger, slotStore } = world({ forgingOrder: () => [one] });
    forger.start();
    vi.setSystemTime(Date.now() + 3 * slotMs);
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(slotStore.missed(9).map(({ slot }) => slot)).toContain(START_SLOT + 3);
  });

  test("A missed slot records a head in the future, with the time when forging resumes.", async () => {
    const refused: string[] = [];
    const head = headerAt(START_SLOT + 5);
    const { forger, slotStore, deps } = world({
      forgingOrder: () => [one],
      head: () => head,
    });
    Object.assign(deps.guard, { refused: (_key: string, kind: string) => refused.push(kind) });
    forger.start();
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    await forger.stop();
    const resumesAt = new Date(slots.unixMsOf(slots.slotTime(START_SLOT + 6))).toISOString();
    expect(slotStore.missed(9).map(({ slot }) => slot)).toEqual([START_SLOT + 2, START_SLOT + 1]);
    for (const { reason } of slotStore.missed(9)) {
      expect(reason).toMatch(
        /^the head is in the future: block 1005 is \d+ s ahead of the clock of this node/,
      );
      expect(reason).toContain(`forging resumes at ${resumesAt}`);
    }
    expect(refused).toEqual(["head_in_future", "head_in_future"]);
  });

  test("A missed slot records a head that was forged while the clock of the process was ahead.", async () => {
    const { forger, forged, slotStore } = world({ forgingOrder: () => [one] });
    forger.start();
    vi.setSystemTime(Date.now() + 20 * slotMs);
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    expect(forged.length).toBeGreaterThan(0);
    vi.setSystemTime(Date.now() - 20 * slotMs);
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    await forger.stop();
    expect(slotStore.missedAt(START_SLOT + 4)[0]?.reason).toContain("the head is in the future");
  });

  test("A missed slot records a block that the chain refuses.", async () => {
    const { forger, failures, slotStore } = world({
      forgingOrder: () => [one],
      submitBlock: async () => "wrong",
    });
    forger.start();
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(failures).toEqual([expect.stringContaining("was refused: wrong")]);
    expect(slotStore.missed(1)[0]?.reason).toBe("the block was refused: wrong");
  });
});

describe("a slot that must not be signed", () => {
  /** A record that has a later slot, or cannot be written. */
  const guarded = (record: SigningRecord, otherForger?: GuardDeps["otherForger"]) => {
    const refused: string[] = [];
    const slotOf = ({ timestamp }: BlockHeader) => slots.slotAt(timestamp);
    const guard = new Guard({ record, otherForger, slotOf, onRefused: (kind) => refused.push(kind) });
    return { ...world({ forgingOrder: () => [one], guard }), refused };
  };

  test("A slot after the clock went back is missed with the reason, up to the last signed one.", async () => {
    const last = { publicKey: one, slot: START_SLOT + 2, height: 7, blockId: "abc" };
    const { forger, forged, refused, slotStore, failures } = guarded({
      lastSigned: () => last,
      add: () => {},
    });
    forger.start();
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 3]);
    expect(refused).toEqual(["signed_before", "signed_before"]);
    expect(slotStore.missed(9).map(({ slot, reason }) => [slot, reason])).toEqual([
      [
        START_SLOT + 2,
        "the signing record already has this slot for this key (block abc): refusing to sign twice",
      ],
      [
        START_SLOT + 1,
        `the signing record already has the later slot ${START_SLOT + 2} for this key (block abc): refusing to sign twice; is the clock right?`,
      ],
    ]);
    expect(failures).toEqual([]);
    await expect(forger.forgeSlot(START_SLOT + 1)).rejects.toThrow(/^cannot forge slot \d+: /);
  });

  test("A slot whose record cannot be written publishes no block, and the next slot is tried.", async () => {
    let tries = 0;
    const { forger, forged, failures } = guarded({
      lastSigned: () => undefined,
      add() {
        if (++tries === 1) throw new Error("disk full");
      },
    });
    forger.start();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 2]);
    expect(failures).toEqual(["disk full"]);
  });

  test("A slot is skipped while the start watches for other forgers, and counted for the key.", async () => {
    const leftOut: string[] = [];
    const otherForger: GuardDeps["otherForger"] = {
      start: (slot) => leftOut.push(`from ${slot}`),
      refusalOf: (_, slot) => (slot < START_SLOT + 3 ? { kind: "watching", reason: "watching" } : undefined),
      leftOut: (publicKey) => leftOut.push(publicKey),
      signed: ({ height }) => leftOut.push(`signed ${height}`),
    };
    const { forger, slotStore } = guarded({ lastSigned: () => undefined, add: () => {} }, otherForger);
    forger.start();
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    await forger.stop();
    expect(leftOut).toEqual([`from ${START_SLOT + 1}`, one, one, `signed ${START_SLOT + 3}`]);
    expect(slotStore.missedAt(START_SLOT + 2)).toMatchObject([{ publicKey: one, reason: "watching" }]);
  });
});

describe("on demand", () => {
  test("On demand, nothing is forged by itself, and one block per request.", async () => {
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

  test("On demand, one request yields as many blocks as the pending transactions need.", async () => {
    const pending = [{}, {}, {}] as SealedTransaction[];
    const { forger, forged } = world(
      {
        forgingOrder: () => [one],
        selectTransactions: () => pending.slice(forged.length, forged.length + 1),
      },
      true,
    );
    forger.start();
    forger.demand();
    await vi.advanceTimersByTimeAsync(6 * slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 1, START_SLOT + 2, START_SLOT + 3]);
  });
});

describe("forging of a slot on request", () => {
  const aloneWith = (...order: string[]) => world({ forgingOrder: () => order });

  test("No slot is tried during a pause; afterwards the passed slots are not counted as missed.", async () => {
    const { forger, forged, slotStore } = aloneWith(one);
    forger.start();
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.pause();
    await vi.advanceTimersByTimeAsync(3 * slotMs);
    expect(forged).toEqual([START_SLOT + 1]);
    forger.resume();
    await vi.advanceTimersByTimeAsync(slotMs);
    await forger.stop();
    expect(forged).toEqual([START_SLOT + 1, START_SLOT + 4, START_SLOT + 5]);
    expect(slotStore.missed(9)).toEqual([]);
  });

  test("A pause waits for the slot in progress.", async () => {
    const taken = Promise.withResolvers<undefined>();
    const { forger } = world({ forgingOrder: () => [one], submitBlock: () => taken.promise });
    forger.start();
    await vi.advanceTimersByTimeAsync(slotMs);
    let isPaused = false;
    const pausing = forger.pause().then(() => {
      isPaused = true;
    });
    await vi.advanceTimersByTimeAsync(slotMs);
    expect(isPaused).toBe(false);
    taken.resolve(undefined);
    await pausing;
    await forger.stop();
  });

  test("Resuming is not a start, and does not override a stop.", async () => {
    const { forger, forged } = aloneWith(one);
    forger.resume();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    forger.start();
    await forger.stop();
    forger.resume();
    await vi.advanceTimersByTimeAsync(2 * slotMs);
    expect(forged).toEqual([]);
  });

  test("The next slot is the first that is ours, free, and not before this process.", async () => {
    const { forger } = aloneWith("another", one, two);
    await forger.pause();
    expect(forger.nextSlot()).toBe(START_SLOT);
    forger.start();
    expect(forger.nextSlot()).toBe(START_SLOT + 1);
    await forger.forgeSlot(START_SLOT + 1);
    // The following slot belongs to another delegate.
    expect((START_SLOT + 2) % 3).toBe(0);
    expect(forger.nextSlot()).toBe(START_SLOT + 3);
    await forger.stop();
  });

  test("There is no next slot if other nodes have all delegates.", () => {
    expect(aloneWith("another").forger.nextSlot()).toBeUndefined();
  });

  test("A block on request contains the given transactions, or else those of the pool.", async () => {
    const held: number[] = [];
    const { forger } = world({
      forgingOrder: () => [one],
      selectTransactions: () => [{}, {}] as SealedTransaction[],
      build({ slot, transactions }) {
        held.push(transactions.length);
        return { header: headerAt(slot), headerBytes: new Uint8Array(), transactions };
      },
    });
    await forger.forgeSlot(START_SLOT);
    await forger.forgeSlot(START_SLOT + 1, []);
    expect(held).toEqual([2, 0]);
  });

  test("A slot is never forged twice, even if its block was reverted.", async () => {
    const head = headerAt(START_SLOT - 10);
    const { forger, forged } = world({ forgingOrder: () => [one], head: () => head });
    expect((await forger.forgeSlot(START_SLOT)).header.height).toBe(START_SLOT);
    await expect(forger.forgeSlot(START_SLOT)).rejects.toThrow(`slot ${START_SLOT}`);
    expect(forger.nextSlot()).toBe(START_SLOT + 1);
    expect(forged).toEqual([START_SLOT]);
  });

  test("A request fails for the slot of another, for a refused block, and after the forger has stopped.", async () => {
    const { forger } = aloneWith("another");
    await expect(forger.forgeSlot(START_SLOT)).rejects.toThrow(
      `cannot forge slot ${START_SLOT}: it belongs to a delegate of another node`,
    );
    const refusing = world({ forgingOrder: () => [one], submitBlock: async () => "wrong" });
    await expect(refusing.forger.forgeSlot(START_SLOT)).rejects.toThrow("was refused: wrong");
    const ended = aloneWith(one);
    await ended.forger.stop();
    await expect(ended.forger.forgeSlot(START_SLOT)).rejects.toThrow(
      `cannot forge slot ${START_SLOT}: the forger is stopped`,
    );
  });
});

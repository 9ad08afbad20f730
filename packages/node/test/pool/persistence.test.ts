/** The pool on disk: restarts, group commit, failing writes (pool.md 11, decision 4). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { Journal } from "../../src/pool/contents/journal.ts";
import { type PoolEvent, toPublicEvent } from "../../src/pool/events.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { migrate } from "../../src/store/engine/migrations.ts";
import { EventLog } from "../../src/store/events/event-log.ts";
import { createPoolStore, type PoolStore } from "../../src/store/node/pool.ts";
import {
  createTestChain,
  FEE,
  idsOf,
  networkWith,
  openPool,
  RICH,
  richChain,
  submitOne,
  transfer,
} from "../../test-support/pool/chain.ts";

let folder: string;
const open: { close: () => unknown }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-pool-"));
});

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  rmSync(folder, { recursive: true });
});

const NAMES = new Set([
  "transaction.pool.added",
  "transaction.pool.rejected",
  "transaction.pool.removed",
  "transaction.expired",
]);

/** The database file of the test, opened once more, with the node's event log. */
function openFile() {
  const database = openDatabase(join(folder, "node.sqlite"));
  open.push(database);
  migrate(database);
  const log = new EventLog(database, { recordedNames: () => NAMES, now: () => 0 });
  const emit = (event: PoolEvent) => database.transaction(() => log.append([toPublicEvent(event)]));
  return {
    database,
    deps: { store: createPoolStore(database), emit },
    /** Names and ids of the logged events, except those of additions. */
    logged: () =>
      log
        .read(0, 1_000)
        .map(({ id }) => id)
        .filter((id) => !id.startsWith("transaction.pool.added")),
    storedIds: () =>
      createPoolStore(database)
        .load()
        .map(({ id }) => id),
  };
}

/** A pool that is closed before the file that it writes to. */
function openPoolOn(...parameters: Parameters<typeof openPool>) {
  const pool = openPool(...parameters);
  open.push(pool);
  return pool;
}

describe("a restart", () => {
  test("A restart restores the pending transactions in the same order.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openPoolOn(chain, openFile());
    const inputs = [
      transfer("bob", 1),
      transfer("alice", 1),
      transfer("alice", 2, { fee: 2n * FEE }),
      transfer("bob", 2),
    ];
    await pool.submit(inputs);
    await pool.close();
    const again = openPoolOn(chain, openFile());
    expect(again.inForgingOrder()).toEqual(pool.inForgingOrder());
    expect(again.size()).toBe(4);
    expect(await submitOne(again, transfer("alice", 3))).toBe("accepted");
    expect(again.forge().length).toBe(5);
  });

  test("A restart after a crash has every acknowledged transaction.", async () => {
    const chain = richChain("alice");
    const input = transfer("alice", 1);
    await openPoolOn(chain, openFile()).submit([input]);
    expect(openFile().storedIds()).toEqual([input.id]);
    expect(idsOf(openPoolOn(chain, openFile()).inForgingOrder())).toEqual([input.id]);
  });

  test("A restart removes and reports transactions that a block included before the pool could write it.", async () => {
    const chain = richChain("alice");
    const pool = openPoolOn(chain, openFile());
    await pool.submit([transfer("alice", 1), transfer("alice", 2)]);
    const [first, second] = pool.inForgingOrder();
    chain.append([present(first)]);
    const file = openFile();
    const again = openPoolOn(chain, file);
    expect(idsOf(again.inForgingOrder())).toEqual([present(second).data.id]);
    expect(file.storedIds()).toEqual([present(second).data.id]);
    expect(file.logged()).toEqual([`transaction.pool.removed:${present(first).data.id}`]);
  });

  test("A restart removes and reports transactions that no longer apply.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openPoolOn(chain, openFile());
    const inputs = [transfer("alice", 1), transfer("alice", 2), transfer("bob", 1)];
    await pool.submit(inputs);
    await pool.close();
    chain.fund({ alice: { balance: FEE } });
    const file = openFile();
    expect(idsOf(openPoolOn(chain, file).inForgingOrder())).toEqual([present(inputs[2]).id]);
    expect(file.logged()).toEqual(inputs.slice(0, 2).map(({ id }) => `transaction.pool.removed:${id}`));
  });

  test("A restart removes transactions that have expired or become outdated since.", async () => {
    const network = networkWith([{ height: 12, vendorFieldLength: 2 }]);
    const chain = createTestChain({ alice: RICH, bob: RICH, carol: RICH }, network);
    const pool = openPoolOn(chain, openFile());
    const [late, old, good] = [
      transfer("alice", 1, { expiration: 12 }),
      transfer("bob", 1, { vendorField: "xxx" }),
      transfer("carol", 1, { expiration: 13 }),
    ];
    await pool.submit([late, old, good]);
    await pool.close();
    chain.append();
    chain.append();
    const file = openFile();
    expect(idsOf(openPoolOn(chain, file).inForgingOrder())).toEqual([good.id]);
    expect(file.storedIds()).toEqual([good.id]);
    expect(file.logged()).toEqual([`transaction.expired:${late.id}`, `transaction.pool.removed:${old.id}`]);
  });

  test("A restart removes rows that are not transactions, or have another id.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openPoolOn(chain, openFile());
    const [first, second] = [transfer("alice", 1), transfer("bob", 1)];
    await pool.submit([first, second]);
    await pool.close();
    const { database, storedIds, deps } = openFile();
    database.prepare("UPDATE pool SET bytes = x'ff' WHERE id = ?").run(first.id);
    database.prepare("UPDATE pool SET id = ? WHERE id = ?").run("00".repeat(32), second.id);
    expect(openPoolOn(chain, { deps }).size()).toBe(0);
    expect(storedIds()).toEqual([]);
  });

  test("A restart with a lower maximum keeps the highest fees.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openPoolOn(chain, openFile());
    const [cheap, dear] = [transfer("alice", 1), transfer("bob", 1, { fee: 2n * FEE })];
    await pool.submit([cheap, dear]);
    await pool.close();
    const file = openFile();
    const again = openPoolOn(chain, { ...file, options: { poolSize: 1 } });
    expect(idsOf(again.inForgingOrder())).toEqual([dear.id]);
    expect(file.logged()).toEqual([`transaction.pool.removed:${cheap.id}`]);
  });

  test("A restart after a revert keeps the order of nonces.", async () => {
    const chain = richChain("alice");
    const pool = openPoolOn(chain, openFile());
    await pool.submit([transfer("alice", 1)]);
    pool.forge();
    await pool.submit([transfer("alice", 2)]);
    pool.blocksReverted(chain.revert());
    await pool.close();
    const again = openPoolOn(chain, openFile());
    expect(again.inForgingOrder().map(({ data }) => data.nonce)).toEqual([1n, 2n]);
  });
});

describe("the journal", () => {
  test.each([
    ["logs none of its events", false, "process death"],
    ["logs one of its events", true, "power loss"],
  ] as const)("A write of a pool that %s survives: %s.", async (_what, isLogged, survival) => {
    const { deps } = openFile();
    const survived: unknown[] = [];
    const store: PoolStore = {
      load: deps.store.load,
      write(change, alongside, survives) {
        survived.push(survives);
        deps.store.write(change, alongside, survives);
      },
    };
    const pool = openPoolOn(richChain("alice"), { deps: { ...deps, store, isLogged: () => isLogged } });
    await pool.submit([transfer("alice", 1)]);
    expect(survived).toEqual([survival]);
  });

  test("The journal writes concurrent requests together.", async () => {
    const { deps, storedIds } = openFile();
    let writes = 0;
    const store: PoolStore = {
      load: deps.store.load,
      write(...change) {
        writes++;
        deps.store.write(...change);
      },
    };
    const pool = openPoolOn(richChain("alice", "bob", "carol"), { deps: { ...deps, store } });
    await Promise.all(["alice", "bob", "carol"].map((name) => pool.submit([transfer(name, 1)])));
    expect(storedIds().length).toBe(3);
    expect(writes).toBeLessThan(3);
  });

  test("The journal writes nothing if nothing happened.", async () => {
    const store: PoolStore = {
      load: () => [],
      write: () => {
        throw new Error("nothing to write");
      },
    };
    const pool = openPool(richChain("alice"), { deps: { store } });
    pool.blockApplied([], new Set());
    await pool.close();
  });

  test("The journal reports an addition, a removal and a rejection once each, when they are on disk.", async () => {
    const file = openFile();
    const chain = richChain("alice");
    const pool = openPoolOn(chain, file);
    const [first, early] = [transfer("alice", 1), transfer("alice", 3)];
    await pool.submit([first, early]);
    expect(file.logged().map((id) => id.split(":")[0])).toEqual(["transaction.pool.rejected"]);
    pool.forge();
    expect(file.logged().length).toBe(1);
    await pool.close();
    expect(file.logged().slice(1)).toEqual([`transaction.pool.removed:${first.id}`]);
    expect(file.storedIds()).toEqual([]);
  });

  test("The journal fails with the error of a failed write, and writes the changes with the next ones.", async () => {
    const { deps, storedIds } = openFile();
    let isBroken = true;
    const emit = (event: PoolEvent) => {
      if (isBroken) throw new Error("the disk is full");
      deps.emit(event);
    };
    const pool = openPoolOn(richChain("alice"), { deps: { ...deps, emit } });
    const inputs = [transfer("alice", 1), transfer("alice", 2)];
    await expect(pool.submit([inputs[0]])).rejects.toThrow("the disk is full");
    // Rows and events are written together or not at all.
    expect(storedIds()).toEqual([]);
    isBroken = false;
    await pool.submit([inputs[1]]);
    expect(storedIds()).toEqual(inputs.map(({ id }) => id));
  });

  test("The journal fails with the reason and the state of the transactions if the disk refuses the write.", async () => {
    const { deps, storedIds } = openFile();
    let isFull = true;
    const store: PoolStore = {
      load: deps.store.load,
      write(...change) {
        if (isFull) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
        deps.store.write(...change);
      },
    };
    const pool = openPoolOn(richChain("alice"), { deps: { ...deps, store } });
    const transaction = transfer("alice", 1);
    await expect(pool.submit([transaction])).rejects.toMatchObject({
      code: "POOL_DISK_FULL",
      message: expect.stringMatching(/pending/),
    });
    expect(pool.size()).toBe(1);
    expect(await submitOne(pool, transaction)).toBe("ERR_DUPLICATE");
    isFull = false;
    await expect.poll(storedIds).toEqual([transaction.id]);
  });

  test("The journal retries a write that no caller awaits.", async () => {
    const { deps, storedIds } = openFile();
    const failures: unknown[] = [];
    let isBroken = false;
    const emit = (event: PoolEvent) => {
      if (isBroken) throw new Error("the disk is full");
      deps.emit(event);
    };
    const onWriteFailed = (error: unknown) => void failures.push(error);
    const pool = openPoolOn(richChain("alice"), { deps: { ...deps, emit, onWriteFailed } });
    await pool.submit([transfer("alice", 1)]);
    isBroken = true;
    pool.forge();
    await expect.poll(() => failures).toEqual([new Error("the disk is full")]);
    expect(storedIds().length).toBe(1);
    isBroken = false;
    await expect.poll(storedIds).toEqual([]);
  });

  test("The journal retries a write that failed at the start of the pool.", async () => {
    const { deps, storedIds } = openFile();
    const chain = richChain("alice");
    const gone = transfer("alice", 1);
    const before = openPoolOn(chain, { deps });
    await before.submit([gone]);
    await before.close();
    let isFull = true;
    const store: PoolStore = {
      load: deps.store.load,
      write(...change) {
        if (isFull) throw new Error("the disk is full");
        deps.store.write(...change);
      },
    };
    openPoolOn(chain, { deps: { ...deps, store, storedIds: () => new Set([gone.id]) } });
    expect(storedIds()).toEqual([gone.id]);
    isFull = false;
    await expect.poll(storedIds).toEqual([]);
  });

  test("The journal rejects the close of the pool if it could not be written.", async () => {
    const store: PoolStore = {
      load: () => [],
      write: () => {
        throw new Error("the disk is full");
      },
    };
    const chain = richChain("alice");
    const pool = openPool(chain, { deps: { store } });
    const [input] = [transfer("alice", 1)];
    await expect(pool.submit([input])).rejects.toThrow("the disk is full");
    pool.blockApplied(pool.inForgingOrder(), new Set());
    await expect(pool.close()).rejects.toThrow("the disk is full");
  });
});

test("A change whose write failed at the close is reported as failed.", async () => {
  const failure = new Error("disk full");
  const journal = new Journal({
    store: {
      load: () => [],
      write() {
        throw failure;
      },
    },
    emit() {},
  });
  journal.removed("1");
  await expect(journal.close()).rejects.toBe(failure);
  await expect(journal.flushed()).rejects.toBe(failure);
  journal.removed("2");
  await expect(journal.flushed()).rejects.toBe(failure);
});

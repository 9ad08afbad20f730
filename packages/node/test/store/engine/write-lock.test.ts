import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/store/engine/database.ts";
import {
  createWriteLockMemory,
  ordinaryWriteLock,
  priorityWriteLock,
} from "../../../src/store/engine/writes.ts";

/** Another thread that does nothing but write. */
function startWriter(holdMs: number) {
  const memory = createWriteLockMemory();
  const counter = new SharedArrayBuffer(12);
  const places = new Int32Array(counter);
  const worker = new Worker(new URL("./write-lock-thread.ts", import.meta.url), {
    workerData: { memory, counter, holdMs },
  });
  return {
    memory,
    acquired: () => Atomics.load(places, 0),
    isWriting: () => Atomics.load(places, 2) === 1,
    async stop() {
      Atomics.store(places, 1, 1);
      await once(worker, "exit");
    },
  };
}

test("Consensus is next when a writer releases the lock, and no other thread writes meanwhile.", async () => {
  const writer = startWriter(3);
  const consensus = priorityWriteLock(writer.memory);
  while (writer.acquired() === 0) await nextTick();
  for (let round = 0; round < 50; round++) {
    const before = writer.acquired();
    consensus.acquire();
    expect(writer.isWriting()).toBe(false);
    // The active writer, and one that acquired the lock before consensus requested it.
    expect(writer.acquired() - before).toBeLessThanOrEqual(2);
    consensus.release();
    while (!writer.isWriting()) await nextTick();
  }
  await writer.stop();
});

test("Others continue when consensus has released the lock.", async () => {
  const writer = startWriter(0);
  const consensus = priorityWriteLock(writer.memory);
  consensus.acquire();
  consensus.release();
  while (writer.acquired() < 100) await nextTick();
  await writer.stop();
});

test("A dead holder does not block others permanently.", () => {
  const memory = createWriteLockMemory();
  ordinaryWriteLock(memory).acquire();
  const consensus = priorityWriteLock(memory);
  consensus.acquire();
  consensus.release();
  expect(new Int32Array(memory)[0]).toBe(0);
});

test("A statement outside of transactions acquires the lock and releases it.", async () => {
  const writer = startWriter(50);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-lock-"));
  const database = openDatabase(join(folder, "node.sqlite"), { writeLock: priorityWriteLock(writer.memory) });
  database.execute("CREATE TABLE t (x)");
  const isAlone = () => (writer.isWriting() ? 0 : 1);
  database.define("isAlone", isAlone);
  const insert = database.prepare<{ x: number }>("INSERT INTO t SELECT isAlone() RETURNING x");
  const places = new Int32Array(writer.memory);
  for (const ask of [insert.run, insert.get, insert.all]) {
    while (!writer.isWriting()) await nextTick();
    ask();
  }
  await writer.stop();
  expect(places[0]).toBe(0);
  expect(database.prepare("SELECT x FROM t").all()).toEqual([{ x: 1 }, { x: 1 }, { x: 1 }]);
  database.close();
  rmSync(folder, { recursive: true });
});

test("A transaction releases the lock, also if it fails.", () => {
  const memory = createWriteLockMemory();
  const folder = mkdtempSync(join(tmpdir(), "uniknode-lock-"));
  const database = openDatabase(join(folder, "node.sqlite"), { writeLock: priorityWriteLock(memory) });
  const locked = () => new Int32Array(memory)[0];
  database.execute("CREATE TABLE t (x)");
  for (const survives of ["power loss", "process death"] as const) {
    database.transaction(() => {
      expect(locked()).toBe(1);
      database.transaction(() => expect(locked()).toBe(1));
      expect(locked()).toBe(1);
    }, survives);
    expect(locked()).toBe(0);
    const fail = () => {
      throw new Error("no");
    };
    expect(() => database.transaction(fail, survives)).toThrow("no");
    expect(locked()).toBe(0);
  }
  database.close();
  rmSync(folder, { recursive: true });
});

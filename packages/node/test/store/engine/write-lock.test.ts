import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { createTurns, firstTurn, furtherTurn } from "../../../src/store/engine/write-lock.ts";

/** Another thread that does nothing but write. */
function startWriter(turnMs: number) {
  const turns = createTurns();
  const counter = new SharedArrayBuffer(12);
  const places = new Int32Array(counter);
  const worker = new Worker(new URL("./write-lock-thread.ts", import.meta.url), {
    workerData: { turns, counter, turnMs },
  });
  return {
    turns,
    taken: () => Atomics.load(places, 0),
    isWriting: () => Atomics.load(places, 2) === 1,
    async stop() {
      Atomics.store(places, 1, 1);
      await once(worker, "exit");
    },
  };
}

test("consensus comes next when the turn at work has ended, and then nobody else writes", async () => {
  const writer = startWriter(3);
  const first = firstTurn(writer.turns);
  while (writer.taken() === 0) await nextTurn();
  for (let round = 0; round < 50; round++) {
    const before = writer.taken();
    first.take();
    expect(writer.isWriting()).toBe(false);
    // The one that was at work, and one that began before consensus asked.
    expect(writer.taken() - before).toBeLessThanOrEqual(2);
    first.end();
    while (!writer.isWriting()) await nextTurn();
  }
  await writer.stop();
});

test("others go on when consensus has ended", async () => {
  const writer = startWriter(0);
  const first = firstTurn(writer.turns);
  first.take();
  first.end();
  while (writer.taken() < 100) await nextTurn();
  await writer.stop();
});

test("who died in a turn holds nobody up for ever", () => {
  const turns = createTurns();
  furtherTurn(turns).take();
  const first = firstTurn(turns);
  const startMs = performance.now();
  first.take();
  expect(performance.now() - startMs).toBeLessThan(60_000);
});

test("a statement outside of transactions waits for its turn, and ends it", async () => {
  const writer = startWriter(50);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-turns-"));
  const database = openDatabase(join(folder, "node.sqlite"), { turn: firstTurn(writer.turns) });
  database.execute("CREATE TABLE t (x)");
  const isAlone = () => (writer.isWriting() ? 0 : 1);
  database.define("isAlone", isAlone);
  const insert = database.prepare<{ x: number }>("INSERT INTO t SELECT isAlone() RETURNING x");
  const places = new Int32Array(writer.turns);
  for (const ask of [insert.run, insert.get, insert.all]) {
    while (!writer.isWriting()) await nextTurn();
    ask();
  }
  await writer.stop();
  expect(places[0]).toBe(0);
  expect(database.prepare("SELECT x FROM t").all()).toEqual([{ x: 1 }, { x: 1 }, { x: 1 }]);
  database.close();
  rmSync(folder, { recursive: true });
});

test("a transaction ends its turn, also where it fails", () => {
  const turns = createTurns();
  const folder = mkdtempSync(join(tmpdir(), "uniknode-turns-"));
  const database = openDatabase(join(folder, "node.sqlite"), { turn: firstTurn(turns) });
  const taken = () => new Int32Array(turns)[0];
  database.execute("CREATE TABLE t (x)");
  for (const survives of ["power loss", "process death"] as const) {
    database.transaction(() => {
      expect(taken()).toBe(1);
      database.transaction(() => expect(taken()).toBe(1));
      expect(taken()).toBe(1);
    }, survives);
    expect(taken()).toBe(0);
    const fail = () => {
      throw new Error("no");
    };
    expect(() => database.transaction(fail, survives)).toThrow("no");
    expect(taken()).toBe(0);
  }
  database.close();
  rmSync(folder, { recursive: true });
});

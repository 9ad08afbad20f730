/** Writer that acquires the lock repeatedly, holds it for some milliseconds, and counts how often. */
import { workerData } from "node:worker_threads";
import { ordinaryWriteLock } from "../../../src/store/engine/writes.ts";

const { memory, counter, holdMs } = workerData as {
  memory: SharedArrayBuffer;
  counter: SharedArrayBuffer;
  holdMs: number;
};
const lock = ordinaryWriteLock(memory);
const [count, end, writers] = [0, 1, 2];
const places = new Int32Array(counter);
while (Atomics.load(places, end) === 0) {
  lock.acquire();
  Atomics.add(places, writers, 1);
  const untilMs = performance.now() + holdMs;
  while (performance.now() < untilMs);
  Atomics.sub(places, writers, 1);
  Atomics.add(places, count, 1);
  lock.release();
}

/** A writer that takes its turn again and again, each for some milliseconds, and counts them. */
import { workerData } from "node:worker_threads";
import { furtherTurn } from "../../../src/store/engine/write-lock.ts";

const { turns, counter, turnMs } = workerData as {
  turns: SharedArrayBuffer;
  counter: SharedArrayBuffer;
  turnMs: number;
};
const turn = furtherTurn(turns);
const [count, end, writers] = [0, 1, 2];
const places = new Int32Array(counter);
while (Atomics.load(places, end) === 0) {
  turn.take();
  Atomics.add(places, writers, 1);
  const untilMs = performance.now() + turnMs;
  while (performance.now() < untilMs);
  Atomics.sub(places, writers, 1);
  Atomics.add(places, count, 1);
  turn.end();
}

/**
 * Answers that are ready in one turn of the event loop leave one after another at its end: who waits for them is woken
 * once for all of them, and waking takes longer than an answer (docs/decisions/0024-answers-of-a-turn-leave-together.md).
 */
import type { Server } from "./app.ts";

/**
 * To be added after everything else that looks at what is sent.
 *
 * @param maxWaitMs the longest that an answer waits for others, but for the one that is being made
 */
export function addBatches(app: Server, maxWaitMs: number): void {
  let leaving: (() => void)[] = [];
  let firstMs = 0;

  function leave(): void {
    const batch = leaving;
    leaving = [];
    for (const send of batch) send();
  }

  app.addHook("onSend", (_request, _reply, payload, done) => {
    const nowMs = performance.now();
    if (leaving.length === 0) {
      firstMs = nowMs;
      setImmediate(leave);
    }
    leaving.push(() => done(null, payload));
    if (nowMs - firstMs > maxWaitMs) leave();
  });
}

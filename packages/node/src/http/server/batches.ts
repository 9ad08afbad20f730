/**
 * Sends the responses of one tick of the event loop together at its end: a waiting client process is scheduled once for all
 * responses, and scheduling it takes longer than building a response (docs/decisions/0019-share-reads-and-writes-per-tick.md).
 */
import type { Server } from "../core/app.ts";

/**
 * Add it after all other hooks that read or change responses.
 *
 * @param maxWaitMs maximum time that a response waits for others, not counting the response that is being built
 */
export function addBatches(app: Server, maxWaitMs: number): void {
  let leaving: (() => void)[] = [];
  let firstMs = 0;

  function leave(): void {
    const batch = leaving;
    leaving = [];
    for (const send of batch) send();
  }

  app.addHook("onSend", (_request, reply, payload, done) => {
    const nowMs = performance.now();
    if (leaving.length === 0) {
      firstMs = nowMs;
      setImmediate(leave);
    }
    leaving.push(() => {
      // The deadline may have sent a response in the same tick: the framework throws at a second one.
      if (!reply.raw.headersSent) done(null, payload);
    });
    if (nowMs - firstMs > maxWaitMs) leave();
  });
}

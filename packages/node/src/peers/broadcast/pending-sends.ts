/** Broadcasts that run in the background, until the node closes. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Deadline, isOver } from "../../platform/threads/call.ts";

export type PendingSends = {
  /** Tracks work in the background. */
  add(work: Promise<unknown>): void;
  /**
   * Settles when all work has ended; when nothing is left to send and no reply came for `replyMs`; or at the deadline.
   *
   * @param hasUnsent whether something waits to be sent
   */
  settled(
    times: { readonly deadline: Deadline; readonly replyMs: number },
    hasUnsent: () => boolean,
  ): Promise<void>;
};

const POLL_MS = 50;

/** @param onFailure called with the error of failed work */
export function createPendingSends(onFailure: (error: unknown) => void): PendingSends {
  const pending = new Set<Promise<unknown>>();
  return {
    add(work) {
      const watched: Promise<unknown> = work.catch(onFailure).finally(() => pending.delete(watched));
      pending.add(watched);
    },
    async settled({ deadline, replyMs }, hasUnsent) {
      let sentAt = performance.now();
      while (!isOver(deadline) && pending.size > 0) {
        const now = performance.now();
        if (hasUnsent()) sentAt = now;
        if (now - sentAt >= replyMs) return;
        await Promise.race([Promise.all(pending), sleep(POLL_MS)]);
      }
    },
  };
}

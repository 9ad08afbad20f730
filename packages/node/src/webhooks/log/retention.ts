/** Keeps the table of deliveries within its bounds, in small steps with pauses between them. */
import type { Logger } from "pino";
import type { DeliveryRetention, DeliveryRetentionStore } from "../../store/webhooks/delivery-retention.ts";
import type { Clock } from "../clock.ts";

export type Retention = {
  /** To be called whenever deliveries were worked on: begins a round when the last one is long ago. */
  check(): void;
  close(): void;
};

export type RetentionDeps = {
  store: DeliveryRetentionStore;
  clock: Clock;
  logger: Logger;
};

const ROUND_EVERY_MS = 60_000;
/** Other writers come between two steps. */
const STEP_PAUSE_MS = 10;

export function createRetention(options: DeliveryRetention, deps: RetentionDeps): Retention {
  const { store, clock, logger } = deps;
  let begunMs = 0;
  let cancelStep: (() => void) | undefined;

  function check(): void {
    const nowMs = clock.nowMs();
    if (cancelStep || nowMs - begunMs < ROUND_EVERY_MS) return;
    begunMs = nowMs;
    schedule(dropRemoved);
  }

  function schedule(step: () => void): void {
    cancelStep = clock.after(STEP_PAUSE_MS, () => {
      cancelStep = undefined;
      try {
        step();
      } catch (error) {
        // The next round tries again.
        logger.error({ err: error }, "old webhook deliveries cannot be dropped");
      }
    });
  }

  const dropRemoved = (): void => schedule(store.dropRemoved() ? dropRemoved : () => failSurplus(0));

  /** Of the webhooks behind an id, one after the other. What comes into a queue meanwhile is left to the next round. */
  function failSurplus(behind: number, queue = store.nextOverfull(behind, options.maxWaiting)): void {
    if (!queue) {
      dropBehind(0);
      return;
    }
    const { webhook, surplus } = queue;
    const failed = store.failSurplus(queue, clock.nowMs());
    const left = failed === 0 ? 0 : surplus - failed;
    schedule(() => (left > 0 ? failSurplus(behind, { webhook, surplus: left }) : failSurplus(webhook)));
  }

  function dropBehind(after: number): void {
    const last = store.dropBehind(after, options, clock.nowMs());
    if (last !== undefined) schedule(() => dropBehind(last));
  }

  return { check, close: () => cancelStep?.() };
}

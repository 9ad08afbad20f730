/** Keeps the deliveries within their bounds, in small steps with pauses in between. */
import type { Logger } from "pino";
import { type Clock, createElapsed } from "../clock.ts";
import type { DeliveryRetention, OverfullQueue } from "../deliveries.ts";
import type { RetentionSteps } from "../delivery-queue.ts";

export type Retention = {
  /** Starts a round if the last one was long ago; call it whenever deliveries were processed. */
  check(): void;
  close(): void;
};

export type RetentionDeps = {
  steps: RetentionSteps;
  clock: Clock;
  logger: Logger;
};

const ROUND_EVERY_MS = 60_000;
/** Pause between two steps, for other writers. */
const STEP_PAUSE_MS = 10;

type Step = () => Promise<Step | undefined>;

export function createRetention(options: DeliveryRetention, deps: RetentionDeps): Retention {
  const { steps, clock, logger } = deps;
  const elapsedMs = createElapsed(clock.nowMs);
  let nextRoundMs = 0;
  let isWorking = false;
  let isClosed = false;
  let cancelPause = () => {};

  function check(): void {
    const nowMs = elapsedMs();
    if (isWorking || nowMs < nextRoundMs) return;
    nextRoundMs = nowMs + ROUND_EVERY_MS;
    isWorking = true;
    schedule(dropRemoved);
  }

  /** Schedules a step, which returns the next one, if any. */
  function schedule(step: Step): void {
    cancelPause = clock.after(STEP_PAUSE_MS, () => void run(step));
  }

  async function run(step: Step): Promise<void> {
    try {
      const next = await step();
      isWorking = next !== undefined;
      if (next && !isClosed) schedule(next);
    } catch (error) {
      isWorking = false;
      // The next round retries.
      logger.error({ err: error }, "failed to delete old webhook deliveries");
    }
  }

  const dropRemoved: Step = async () => ((await steps.dropRemoved()) ? dropRemoved : failSurplusBehind(0));

  /** Creates the step for the webhooks after an id, one by one. */
  const failSurplusBehind =
    (after: number): Step =>
    async () => {
      const queue = await steps.nextOverfull(after, options.maxWaiting);
      return queue ? failSurplus(queue)() : dropBehind(0)();
    };

  /** Creates the step for one queue; deliveries that arrive meanwhile are left to the next round. */
  const failSurplus =
    ({ webhook, surplus }: OverfullQueue): Step =>
    async () => {
      const failed = await steps.failSurplus({ webhook, surplus }, clock.nowMs());
      const isFinished = failed === 0 || failed === surplus;
      return isFinished ? failSurplusBehind(webhook) : failSurplus({ webhook, surplus: surplus - failed });
    };

  const dropBehind =
    (after: number): Step =>
    async () => {
      const last = await steps.dropBehind(after, options, clock.nowMs());
      return last === undefined ? undefined : dropBehind(last);
    };

  return {
    check,
    close() {
      isClosed = true;
      cancelPause();
    },
  };
}

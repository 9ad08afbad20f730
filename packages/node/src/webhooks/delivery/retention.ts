/** Keeps the deliveries within their bounds, in small steps with pauses in between. */
import type { Logger } from "pino";
import type { Clock } from "../collaborators.ts";
import type { DeliveryRetention, OverfullQueue } from "../model/deliveries.ts";
import type { RetentionSteps } from "../storage/retention.ts";

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

type State = RetentionDeps & {
  readonly bounds: DeliveryRetention;
  isWorking: boolean;
  isClosed: boolean;
  cancelPause: () => void;
};

export function createRetention(bounds: DeliveryRetention, deps: RetentionDeps): Retention {
  const state: State = { ...deps, bounds, isWorking: false, isClosed: false, cancelPause() {} };
  const { elapsedMs } = deps.clock;
  let nextRoundMs = 0;
  return {
    check() {
      const nowMs = elapsedMs();
      if (state.isWorking || nowMs < nextRoundMs) return;
      nextRoundMs = nowMs + ROUND_EVERY_MS;
      state.isWorking = true;
      schedule(state, dropRemoved);
    },
    close() {
      state.isClosed = true;
      state.cancelPause();
    },
  };
}

/** One step of a round; resolves to the next one, if any. */
type Step = (state: State) => Promise<Step | undefined>;

function schedule(state: State, step: Step): void {
  state.cancelPause = state.clock.after(STEP_PAUSE_MS, () => void run(state, step));
}

async function run(state: State, step: Step): Promise<void> {
  try {
    const next = await step(state);
    state.isWorking = next !== undefined;
    if (next && !state.isClosed) schedule(state, next);
  } catch (error) {
    state.isWorking = false;
    // The next round retries.
    state.logger.error({ err: error }, "failed to delete old webhook deliveries");
  }
}

const dropRemoved: Step = async ({ steps }) =>
  (await steps.dropRemoved()) ? dropRemoved : failSurplusBehind(0);

/** Creates the step for the webhooks after an id, one by one. */
const failSurplusBehind =
  (after: number): Step =>
  async (state) => {
    const queue = await state.steps.nextOverfull(after, state.bounds.maxWaiting);
    return queue ? failSurplus(queue)(state) : dropBehind(0)(state);
  };

/** Creates the step for one queue; the next round processes deliveries that arrive in the meantime. */
const failSurplus =
  ({ webhook, surplus }: OverfullQueue): Step =>
  async ({ steps, clock }) => {
    const failed = await steps.failSurplus({ webhook, surplus }, clock.nowMs());
    const isFinished = failed === 0 || failed === surplus;
    return isFinished ? failSurplusBehind(webhook) : failSurplus({ webhook, surplus: surplus - failed });
  };

const dropBehind =
  (after: number): Step =>
  async ({ steps, bounds, clock }) => {
    // A clock that was set ahead drops no delivery.
    const last = await steps.dropBehind(after, bounds, Math.min(clock.nowMs(), clock.steadyMs()));
    return last === undefined ? undefined : dropBehind(last);
  };

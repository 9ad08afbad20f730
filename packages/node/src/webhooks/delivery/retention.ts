/** Keeps the deliveries within their bounds, in small steps with pauses in between. */
import type { Logger } from "pino";
import type { Clock } from "../collaborators.ts";
import type { DeliveryRetention, OverfullQueue } from "../model/deliveries.ts";
import type { RetentionSteps } from "../storage/retention.ts";

export type RetentionDeps = {
  steps: RetentionSteps;
  clock: Clock;
  logger: Logger;
};

const ROUND_EVERY_MS = 60_000;
/** Pause between two steps, for other writers. */
const STEP_PAUSE_MS = 10;

type RoundState = Pick<RetentionDeps, "steps" | "clock"> & { readonly bounds: DeliveryRetention };

export class Retention {
  readonly #deps: RetentionDeps;
  readonly #bounds: DeliveryRetention;
  #nextRoundMs = 0;
  #isWorking = false;
  #isClosed = false;
  #cancelPause = () => {};

  constructor(bounds: DeliveryRetention, deps: RetentionDeps) {
    this.#bounds = bounds;
    this.#deps = deps;
  }

  /** Starts a round if the last one was long ago; call it whenever deliveries were processed. */
  check(): void {
    const nowMs = this.#deps.clock.elapsedMs();
    if (this.#isWorking || nowMs < this.#nextRoundMs) return;
    this.#nextRoundMs = nowMs + ROUND_EVERY_MS;
    this.#isWorking = true;
    this.#schedule(dropRemoved);
  }

  #schedule(step: Step): void {
    this.#cancelPause = this.#deps.clock.after(STEP_PAUSE_MS, () => void this.#run(step));
  }

  async #run(step: Step): Promise<void> {
    try {
      const next = await step({ ...this.#deps, bounds: this.#bounds });
      this.#isWorking = next !== undefined;
      if (next && !this.#isClosed) this.#schedule(next);
    } catch (error) {
      this.#isWorking = false;
      // The next round retries.
      this.#deps.logger.error({ err: error }, "failed to delete old webhook deliveries");
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause();
  }
}

/** One step of a round; resolves to the next one, if any. */
type Step = (state: RoundState) => Promise<Step | undefined>;

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

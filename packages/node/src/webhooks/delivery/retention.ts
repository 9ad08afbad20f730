/** Keeps the deliveries within their bounds, in small steps with pauses in between. */
import type { Logger } from "pino";
import type { Clock } from "../collaborators.ts";
import type { DeliveryRetention, OverfullQueue } from "../model/deliveries.ts";
import type { RetentionSteps } from "../storage/retention.ts";

type RetentionDeps = {
  readonly steps: RetentionSteps;
  readonly clock: Clock;
  readonly logger: Logger;
};

const ROUND_EVERY_MS = 60_000;
/** Pause before each step, for other writers. */
const STEP_PAUSE_MS = 10;

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
    this.#continue(this.#steps());
  }

  #continue(steps: AsyncGenerator<void>): void {
    this.#cancelPause = this.#deps.clock.after(STEP_PAUSE_MS, () => void this.#run(steps));
  }

  async #run(steps: AsyncGenerator<void>): Promise<void> {
    try {
      const { done = false } = await steps.next();
      this.#isWorking = !done;
      if (!done && !this.#isClosed) this.#continue(steps);
    } catch (error) {
      this.#isWorking = false;
      // The next round retries.
      this.#deps.logger.error({ err: error }, "failed to delete old webhook deliveries");
    }
  }

  /** The steps of a round: each yields after one transaction that changes rows. */
  async *#steps(): AsyncGenerator<void> {
    const { steps, clock } = this.#deps;
    const { maxWaiting } = this.#bounds;
    while (await steps.dropRemoved()) yield;
    yield;
    let queue = await steps.nextOverfull(0, maxWaiting);
    for (; queue; queue = await steps.nextOverfull(queue.webhook, maxWaiting))
      yield* this.#failSurplus(queue);
    let last: number | undefined = 0;
    while (last !== undefined) {
      // A clock that was set ahead drops no delivery.
      last = await steps.dropBehind(last, this.#bounds, Math.min(clock.nowMs(), clock.steadyMs()));
      if (last !== undefined) yield;
    }
  }

  /** Fails the surplus of one queue; the next round processes deliveries that arrive in the meantime. */
  async *#failSurplus({ webhook, surplus }: OverfullQueue): AsyncGenerator<void> {
    const { steps, clock } = this.#deps;
    let left = surplus;
    while (left > 0) {
      const failed = await steps.failSurplus({ webhook, surplus: left }, clock.nowMs());
      left = failed === 0 ? 0 : left - failed;
      yield;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause();
  }
}

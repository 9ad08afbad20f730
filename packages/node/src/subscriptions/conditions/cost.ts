/**
 * Cost of conditions, counted in steps rather than in time: the same conditions cost the same on every machine and
 * under every load. A step is one instruction of a compiled pattern on one character: at most 50 ns, mostly far less
 * (docs/decisions/0027-step-budgets-for-conditions.md).
 */
import { CodedError } from "../../platform/coded-error.ts";

/** Steps that the conditions of one subscriber may take on one event: at most 13 ms. */
export const MAX_EVENT_STEPS = 262_144;
/** Average steps per recent event beyond which a subscriber is slowed down. */
export const SLOW_STEPS = 20_000;
/** Average steps per recent event beyond which a subscriber is suspended. */
const MAX_AVERAGE_STEPS = 100_000;
/** Number of events in the average; the latest has the most weight. */
const WINDOW_EVENTS = 16;

/** The conditions exceed the steps of a subscriber; `message` is for the subscriber. */
export class CostError extends CodedError<"CONDITIONS_COST"> {
  constructor(message: string) {
    super("CONDITIONS_COST", message, { isRetryable: false });
  }
}

/** Counts the steps of one evaluation. */
export class Meter {
  readonly #maxSteps: number;
  #steps = 0;

  constructor(maxSteps: number = MAX_EVENT_STEPS) {
    this.#maxSteps = maxSteps;
  }

  /** @throws {CostError} beyond the steps for one event */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > this.#maxSteps) {
      throw new CostError(`the conditions take more than ${this.#maxSteps} steps for one event`);
    }
  }

  steps(): number {
    return this.#steps;
  }
}

/** True if the conditions hold; an error if they cost too much: their subscriber must then be suspended. */
export type Verdict = boolean | CostError;

/** The conditions of one subscriber, with their recent cost. */
export class MeteredConditions {
  readonly #conditions: (content: unknown, meter: Meter) => boolean;
  #averageSteps = 0;
  #spentSteps = 0;

  constructor(conditions: (content: unknown, meter: Meter) => boolean) {
    this.#conditions = conditions;
  }

  judge(content: unknown): Verdict {
    const meter = new Meter();
    try {
      const holds = this.#conditions(content, meter);
      this.#spentSteps += meter.steps();
      this.#averageSteps += (meter.steps() - this.#averageSteps) / WINDOW_EVENTS;
      return this.#averageSteps > MAX_AVERAGE_STEPS ? new CostError(TOO_MUCH_ON_AVERAGE) : holds;
    } catch (error) {
      if (error instanceof CostError) return error;
      throw error;
    }
  }

  /** Returns whether this subscriber is deprioritised. */
  isSlow(): boolean {
    return this.#averageSteps > SLOW_STEPS;
  }

  /** Returns the steps of all completed evaluations. */
  spentSteps(): number {
    return this.#spentSteps;
  }
}

const TOO_MUCH_ON_AVERAGE = `the conditions take more than ${MAX_AVERAGE_STEPS} steps per event on average`;

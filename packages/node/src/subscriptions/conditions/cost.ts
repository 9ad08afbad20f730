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
export type Meter = {
  /** @throws {CostError} beyond the steps for one event */
  spend(steps: number): void;
  readonly steps: () => number;
};

export function createMeter(maxSteps: number = MAX_EVENT_STEPS): Meter {
  let steps = 0;
  return {
    spend(more) {
      steps += more;
      if (steps > maxSteps) {
        throw new CostError(`the conditions take more than ${maxSteps} steps for one event`);
      }
    },
    steps: () => steps,
  };
}

/** True if the conditions hold; an error if they cost too much: their subscriber must then be suspended. */
export type Verdict = boolean | CostError;

/** The conditions of one subscriber, with their recent cost. */
export type MeteredConditions = {
  judge(content: unknown): Verdict;
  /** Returns whether this subscriber is deprioritised. */
  isSlow(): boolean;
  /** Returns the steps of all completed evaluations. */
  spentSteps(): number;
};

export function meterConditions(conditions: (content: unknown, meter: Meter) => boolean): MeteredConditions {
  let averageSteps = 0;
  let spentSteps = 0;
  return {
    judge(content) {
      const meter = createMeter();
      try {
        const holds = conditions(content, meter);
        spentSteps += meter.steps();
        averageSteps += (meter.steps() - averageSteps) / WINDOW_EVENTS;
        return averageSteps > MAX_AVERAGE_STEPS ? new CostError(TOO_MUCH_ON_AVERAGE) : holds;
      } catch (error) {
        if (error instanceof CostError) return error;
        throw error;
      }
    },
    isSlow: () => averageSteps > SLOW_STEPS,
    spentSteps: () => spentSteps,
  };
}

const TOO_MUCH_ON_AVERAGE = `the conditions take more than ${MAX_AVERAGE_STEPS} steps per event on average`;

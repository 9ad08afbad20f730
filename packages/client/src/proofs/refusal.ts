/** Ends a verification at a step; the function that began it converts the refusal to a verdict. */
export class Refusal<Step extends string> extends Error {
  readonly step: Step;
  /** The same data is refused again. */
  readonly isRetryable = false;

  constructor(step: Step, reason: string) {
    super(reason);
    this.name = "Refusal";
    this.step = step;
  }
}

/** Throws a refusal unless a condition is met. */
export type RefuseUnless<Step extends string> = (isMet: boolean, step: Step, reason: string) => asserts isMet;

/** @throws {Refusal} */
export function refuseUnless<Step extends string>(isMet: boolean, step: Step, reason: string): asserts isMet {
  if (!isMet) throw new Refusal(step, reason);
}

/** Verdict of a verification that ended at a step. */
export type Refused<Step extends string> = {
  readonly verdict: "refused";
  readonly step: Step;
  readonly reason: string;
};

/**
 * Returns the verdict of a refusal.
 *
 * @throws the error, if it is another one
 */
export function refusedVerdict<Step extends string>(error: unknown): Refused<Step> {
  if (error instanceof Refusal)
    return { verdict: "refused", step: error.step as Step, reason: error.message };
  throw error;
}

/** Failures of scenarios. */
export type ScenarioErrorCode =
  /** The scenario has an invalid form, or names something that it does not define. */
  | "SCENARIO_INVALID"
  /** An expectation is not met. */
  | "SCENARIO_EXPECTATION"
  /** The chain refused an action. */
  | "SCENARIO_REFUSED"
  /** A step took too long. */
  | "SCENARIO_TIMEOUT";

export type ScenarioErrorDetails = {
  /** Member of the scenario, such as `steps[3].transfer.amount`. */
  readonly at?: string;
  readonly expected?: string;
  readonly found?: string;
  readonly cause?: unknown;
};

export class ScenarioError extends Error {
  readonly code: ScenarioErrorCode;
  readonly at: string | undefined;
  readonly expected: string | undefined;
  readonly found: string | undefined;
  /** True if the same scenario may pass later. */
  readonly isRetryable: boolean;

  constructor(
    code: ScenarioErrorCode,
    message: string,
    { at, expected, found, cause }: ScenarioErrorDetails = {},
  ) {
    super(at === undefined ? message : `${at}: ${message}`, { cause });
    this.name = "ScenarioError";
    this.code = code;
    this.at = at;
    this.expected = expected;
    this.found = found;
    this.isRetryable = code === "SCENARIO_TIMEOUT";
  }
}

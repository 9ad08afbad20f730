/** The failure of a receiver in a scenario. */
import { CodedError } from "../platform/coded-error.ts";

/** The receiver violates the rule of a scenario. */
export class ScenarioFailure extends CodedError<"SCENARIO_FAILED"> {
  readonly expected: string;
  /** Observed behaviour of the receiver. */
  readonly found: string;

  /** Next step, if it is not that of the scenario. */
  readonly change: string | undefined;

  constructor(expected: string, found: string, change?: string) {
    super("SCENARIO_FAILED", `expected ${expected}, but ${found}`, { isRetryable: false });
    this.expected = expected;
    this.found = found;
    this.change = change;
  }
}

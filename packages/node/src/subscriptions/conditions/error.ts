/** The value of a condition does not fit its operator; `message` follows its name in a sentence. */
export class OperandError extends Error {
  readonly code = "CONDITION_VALUE";
  readonly isRetryable = false;

  constructor(message: string) {
    super(message);
    this.name = "OperandError";
  }
}

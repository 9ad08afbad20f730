/** Refusal of a transaction by the rules. */

/** `code` is the error name of transactions-rules.md; the message is the text of the old node. A retry fails again. */
export class RuleError extends Error {
  readonly code: string;
  readonly isRetryable = false;

  constructor(code: string, message: string) {
    super(message);
    this.name = "RuleError";
    this.code = code;
  }
}

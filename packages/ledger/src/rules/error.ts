/** Refusal of a transaction by the rules. */

/** `code` is the error name of transactions-rules.md; the message is the network's text. Never worth a retry. */
export class RuleError extends Error {
  readonly code: string;
  readonly isRetryable = false;

  constructor(code: string, message: string) {
    super(message);
    this.name = "RuleError";
    this.code = code;
  }
}

/** The error for unusable options and files of an operator. */

/** The configuration is invalid. The message names the option or file, and what to do. */
export class ConfigError extends Error {
  readonly code = "CONFIG";
  readonly isRetryable = false;

  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

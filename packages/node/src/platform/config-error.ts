/** What an operator gave the node, as an option or in a file, cannot be used. */

/** The configuration as given makes no sense. The message names the place and the remedy; a retry is no use. */
export class ConfigError extends Error {
  readonly code = "CONFIG";
  readonly isRetryable = false;

  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

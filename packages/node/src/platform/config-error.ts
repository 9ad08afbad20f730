/** The error for unusable options and files of an operator. */
import { CodedError } from "./coded-error.ts";

/** The configuration is invalid. The message names the option or file, and what to do. */
export class ConfigError extends CodedError<"CONFIG"> {
  constructor(message: string) {
    super("CONFIG", message, { isRetryable: false });
  }
}

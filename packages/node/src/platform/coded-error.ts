/** The errors that every room uses: callers distinguish them by their codes. */

type CodedErrorOptions = ErrorOptions & {
  /** True if the same attempt may succeed later. */
  readonly isRetryable: boolean;
};

/** A room creates it directly. It declares a class of its own only if callers test for the class. */
export class CodedError<Code extends string = string> extends Error {
  readonly code: Code;
  readonly isRetryable: boolean;

  constructor(code: Code, message: string, { isRetryable, ...options }: CodedErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
    this.isRetryable = isRetryable;
  }
}

/** The configuration is invalid. The message names the option or file, and what to do. */
export class ConfigError extends CodedError<"CONFIG"> {
  constructor(message: string) {
    super("CONFIG", message, { isRetryable: false });
  }
}

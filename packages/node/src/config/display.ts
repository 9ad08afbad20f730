/** Options for display: each with its value and its origin, and never a secret. */
import type { OptionValue } from "./define-option.ts";
import { type OptionTable, type Origin, type Resolved, resolveOrigins, type Sources } from "./resolve.ts";

export type ShownOption = {
  /** Name in the configuration file. */
  readonly option: string;
  /** Absent without value and default; `***` for a secret. */
  readonly value?: OptionValue;
  readonly origin: Origin;
  /** The flag, variable or file that sets the value; absent for defaults. */
  readonly source?: string;
};

const HIDDEN = "***";

/**
 * Hides secrets, even if they are given as numbers or lists.
 *
 * @throws {ConfigError} on a value that the option refuses
 */
export function shownOption({ option, origin, source, read }: Resolved): ShownOption {
  const value = read();
  return {
    option: option.name,
    ...(value !== undefined && { value: option.secret ? HIDDEN : value }),
    origin,
    ...(source !== undefined && { source }),
  };
}

/** Returns all options of a table. @throws {ConfigError} as `resolveConfig` */
export const shownOptions = (table: OptionTable, sources: Sources): ShownOption[] =>
  Object.values(resolveOrigins(table, sources)).map(shownOption);

/** Options as they are shown: each with its value and where that comes from, and never a secret. */
import type { OptionValue } from "./option.ts";
import { type OptionTable, type Origin, type Resolved, resolveOrigins, type Sources } from "./resolve.ts";

export type ShownOption = {
  /** Name in the configuration file. */
  readonly option: string;
  /** Absent without value and default; `***` for a secret. */
  readonly value?: OptionValue;
  readonly origin: Origin;
  /** The flag, the variable or the file that says it; absent for defaults. */
  readonly source?: string;
};

const HIDDEN = "***";

/**
 * Secrets are hidden, also when they are given as numbers or lists.
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

/** All of a table. @throws {ConfigError} as `resolveConfig` */
export const shownOptions = (table: OptionTable, sources: Sources): ShownOption[] =>
  Object.values(resolveOrigins(table, sources)).map(shownOption);

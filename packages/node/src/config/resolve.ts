/** Configuration: flags override the environment, which overrides the file and the defaults. Each value is read once. */
import { ConfigError } from "../platform/coded-error.ts";
import { JSON_OBJECT, readJsonFile } from "../platform/json/external.ts";
import { mostSimilar } from "../platform/text/wording.ts";
import { type Option, type OptionValue, toFlag, toVariable } from "./define-option.ts";

export type OptionTable = Readonly<Record<string, Option>>;

/** Values by option; `undefined` only if the option has neither a value nor a default. */
export type Config<T extends OptionTable> = {
  readonly [N in keyof T]: T[N] extends { default: OptionValue }
    ? ReturnType<T[N]["read"]>
    : ReturnType<T[N]["read"]> | undefined;
};

export type Sources = {
  /** Values of the command line, by the name of the option. */
  flags: Readonly<Record<string, unknown>>;
  environment: Readonly<Record<string, string | undefined>>;
  /** Path of a JSON file. */
  file?: string | undefined;
};

type Origin = "default" | "file" | "environment" | "argument";

/** Origin of the value of an option; an absent value has the origin `default`. */
export type Resolved = {
  readonly option: Option;
  readonly origin: Origin;
  /** The flag, variable or file that sets the value; undefined for defaults. */
  readonly source?: string;
  /** Reads the value; throws the `ConfigError` of a value that the option refuses. */
  readonly read: () => OptionValue | undefined;
};

/**
 * Reads every option of the table.
 *
 * @throws {ConfigError} on a value that an option refuses, an unknown key of the file, or an unreadable file
 */
export function resolveConfig<T extends OptionTable>(table: T, sources: Sources): Config<T> {
  const values = Object.entries(resolveOrigins(table, sources)).map(([name, { read }]) => [name, read()]);
  return Object.fromEntries(values) as Config<T>;
}

/**
 * Returns the origin of each option's value.
 *
 * @throws {ConfigError} on an unknown key of the file, or an unreadable file
 */
export function resolveOrigins<T extends OptionTable>(table: T, sources: Sources): Record<keyof T, Resolved> {
  const file = sources.file === undefined ? {} : readConfigFile(sources.file, table);
  const resolved: Record<string, Resolved> = {};
  for (const [name, option] of Object.entries(table)) {
    const candidates: [origin: Origin, source: string, value: unknown][] = [
      ["argument", toFlag(option), sources.flags[name]],
      ["environment", `environment variable ${toVariable(option)}`, sources.environment[toVariable(option)]],
      // The old node ignored empty variables.
      ...(option.oldVariables ?? []).map((variable): [Origin, string, unknown] => [
        "environment",
        `environment variable ${variable}`,
        sources.environment[variable] ? (option.oldMeaning ?? sources.environment[variable]) : undefined,
      ]),
      ["file", `"${name}" in ${sources.file}`, file[name]],
    ];
    const found = candidates.find(([, , candidate]) => candidate !== undefined);
    if (found === undefined) {
      resolved[name] = { option, origin: "default", read: () => option.default };
    } else {
      const [origin, source, value] = found;
      resolved[name] = { option, origin, source, read: () => readFrom(source, option, value) };
    }
  }
  return resolved as Record<keyof T, Resolved>;
}

function readFrom(source: string, option: Option, value: unknown): OptionValue {
  try {
    return option.read(value);
  } catch (error) {
    const shown = option.secret ? "" : `, not ${JSON.stringify(value)}`;
    throw new ConfigError(`${source}: ${(error as Error).message}${shown}. ${option.sentence}`);
  }
}

const CONFIG_FILE = {
  purpose: "configuration file",
  form: JSON_OBJECT,
  remedy: 'correct it (example: {"httpPort": 4003}), or omit --config',
};

function readConfigFile(path: string, table: OptionTable): Record<string, unknown> {
  const content = readJsonFile(path, CONFIG_FILE);
  const unknown = Object.keys(content).find((name) => !Object.hasOwn(table, name));
  if (unknown !== undefined) {
    const names = Object.keys(table);
    const similar = mostSimilar(unknown, names);
    throw new ConfigError(
      `"${unknown}" in ${path} is not an option${similar === undefined ? "." : `; did you mean "${similar}"?`} The options are ${names.join(", ")}.`,
    );
  }
  return content;
}

/** An option for display: its value and its origin, but never a secret. */
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
 * Returns an option for display. Masks secrets, even if they are given as numbers or lists.
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

/**
 * Returns all options of a table for display.
 *
 * @throws {ConfigError} as `resolveConfig`
 */
export const shownOptions = (table: OptionTable, sources: Sources): ShownOption[] =>
  Object.values(resolveOrigins(table, sources)).map(shownOption);

/** Returns the configuration for printing and logging: secrets masked, absent options omitted. */
export function maskConfig(table: OptionTable, config: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, table[name]?.secret ? HIDDEN : value]),
  );
}

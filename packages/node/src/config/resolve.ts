/** Configuration: flag over environment over file over default, each value checked once. */
import { ConfigError } from "../platform/config-error.ts";
import { readJsonObject } from "../platform/json/json-file.ts";
import { flagOf, type Option, type OptionValue, variableOf } from "./option.ts";

export type OptionTable = Readonly<Record<string, Option>>;

/** Values by option; `undefined` only where the option has neither value nor default. */
export type Config<T extends OptionTable> = {
  readonly [N in keyof T]: T[N] extends { default: OptionValue }
    ? ReturnType<T[N]["read"]>
    : ReturnType<T[N]["read"]> | undefined;
};

export type Sources = {
  /** Values of the command line by option name. */
  flags: Readonly<Record<string, unknown>>;
  environment: Readonly<Record<string, string | undefined>>;
  /** Path of a JSON file. */
  file?: string | undefined;
};

/**
 * Reads every option of the table.
 *
 * @throws {ConfigError} on a value that an option refuses, an unknown key of the file, or an unreadable file
 */
export function resolveConfig<T extends OptionTable>(table: T, sources: Sources): Config<T> {
  const file = sources.file === undefined ? {} : readConfigFile(sources.file, table);
  const values: Record<string, OptionValue | undefined> = {};
  for (const [name, option] of Object.entries(table)) {
    const candidates: [place: string, value: unknown][] = [
      [flagOf(option), sources.flags[name]],
      [`environment variable ${variableOf(option)}`, sources.environment[variableOf(option)]],
      // An empty one was as good as none.
      ...(option.oldVariables ?? []).map((variable): [string, unknown] => [
        `environment variable ${variable}`,
        sources.environment[variable] ? (option.oldMeaning ?? sources.environment[variable]) : undefined,
      ]),
      [`"${name}" in ${sources.file}`, file[name]],
    ];
    const [place, value] = candidates.find(([, candidate]) => candidate !== undefined) ?? [];
    if (place === undefined) values[name] = option.default;
    else values[name] = readAt(place, option, value);
  }
  return values as Config<T>;
}

function readAt(place: string, option: Option, value: unknown): OptionValue {
  try {
    return option.read(value);
  } catch (error) {
    const shown = option.secret ? "" : `, not ${JSON.stringify(value)}`;
    throw new ConfigError(`${place}: ${(error as Error).message}${shown}. ${option.sentence}`);
  }
}

function readConfigFile(path: string, table: OptionTable): Record<string, unknown> {
  const content = readJsonObject(path, "configuration file");
  const unknown = Object.keys(content).find((name) => !(name in table));
  if (unknown !== undefined) {
    throw new ConfigError(
      `"${unknown}" in ${path} is no option. Known ones are ${Object.keys(table).join(", ")}.`,
    );
  }
  return content;
}

/** The configuration as it may be shown: secrets masked, absent options left out. */
export function maskConfig(table: OptionTable, config: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, table[name]?.secret ? "***" : value]),
  );
}

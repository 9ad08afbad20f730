/** Configuration: flag over environment over file over default, each value checked once. */
import { readFileSync } from "node:fs";
import { flagOf, type Option, type OptionValue, variableOf } from "./option.ts";

/** The configuration as given makes no sense. The message names the place and the remedy; a retry is no use. */
export class ConfigError extends Error {
  readonly code = "CONFIG";

  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

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

/**
 * The content of a JSON file. The message of the engine is not passed on: it quotes the text, which may be a passphrase.
 *
 * @param named how the message calls the file
 * @throws {ConfigError} when it cannot be read, or is no JSON: the message says at which line and column, if it is known
 */
export function readJsonFile(path: string, named: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`${named} cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${named} cannot be read: it is ${faultOf(text, error as Error)}`);
  }
}

function faultOf(text: string, { message }: Error): string {
  if (text.trim() === "") return "empty";
  const place = /\(line \d+ column \d+\)$/.exec(message);
  return place ? `no JSON ${place[0]}` : "no JSON";
}

/**
 * A JSON object from a file that the user named.
 *
 * @throws {ConfigError} saying what the file is and what is wrong with it
 */
export function readJsonObject(path: string, what: string): Record<string, unknown> {
  const content = readJsonFile(path, `${what} ${path}`);
  if (typeof content !== "object" || content === null || Array.isArray(content)) {
    throw new ConfigError(`${what} ${path} must be a JSON object`);
  }
  return content as Record<string, unknown>;
}

/** The configuration as it may be shown: secrets masked, absent options left out. */
export function maskConfig(table: OptionTable, config: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(config)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, table[name]?.secret ? "***" : value]),
  );
}

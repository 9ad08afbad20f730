/** Creates flags from option tables, and reads the configuration from flags. */
import { join } from "node:path";
import { type Command, Option as Flag } from "commander";
import { type Option, toFlag, toVariable } from "../config/define-option.ts";
import {
  type Config,
  type OptionTable,
  resolveConfig,
  resolveOrigins,
  type Sources,
} from "../config/resolve.ts";
import { ConfigError } from "../platform/config-error.ts";
import { readLockHolder } from "../store/engine/lock-holder.ts";

export class OptionFlag extends Flag {
  /** Environment variable of the option. */
  readonly environmentName: string;
  /** Accepted values; empty if any value may be given. */
  readonly values: readonly string[];

  constructor(option: Option) {
    super(flagText(option), helpText(option));
    this.environmentName = toVariable(option);
    this.values = option.read.choices ?? [];
  }
}

/** Adds the flags of a table, and `--config`. */
export function addFlags(command: Command, table: OptionTable): Command {
  for (const option of Object.values(table)) {
    if (!option.hasNoFlag) command.addOption(flagFor(option));
  }
  return command.option("--config <FILE>", "JSON file with any of these options, in camelCase.");
}

/**
 * Reads the configuration from flags, environment, file and defaults. The base URL of a node that is not given is that of the
 * node in the given data folder.
 *
 * @throws {ConfigError}
 */
export const readConfig = <T extends OptionTable>(command: Command, table: T): Config<T> =>
  resolveConfig(table, withUrl(table, sourcesOf(command)));

function withUrl(table: OptionTable, sources: Sources): Sources {
  if (!("url" in table && "data" in table)) return sources;
  const { url, data } = resolveOrigins(table, sources);
  const folder = data?.read();
  if (url?.origin !== "default" || typeof folder !== "string") return sources;
  const holder = readLockHolder(join(folder, "lock.sqlite"));
  if (holder?.url !== undefined) return { ...sources, flags: { ...sources.flags, url: holder.url } };
  if (data?.origin !== "argument") return sources;
  throw new ConfigError(
    `no running node uses the data folder ${folder}: start it with "uniknode dev" or "uniknode run", choose another folder ` +
      "with --data, or give the base URL of the node with --url",
  );
}

/** Returns the sources of the option values of a command. */
export function sourcesOf(command: Command): Sources {
  const { config: file, ...flags } = command.opts<Record<string, unknown>>();
  return { flags, environment: process.env, file: file as string | undefined };
}

function flagFor(option: Option): Flag {
  const flag = new OptionFlag(option);
  if (!option.isRepeatable) return flag;
  return flag.argParser((text: string, before: readonly string[] = []) => [...before, text]);
}

const flagText = (option: Option): string =>
  option.placeholder ? `${toFlag(option)} <${option.placeholder}>` : toFlag(option);

function helpText(option: Option): string {
  const text = String(option.default ?? "");
  const shown = text === "" || text === "false" ? "" : ` (default: ${text})`;
  return `${option.sentence} [${toVariable(option)}]${shown}`;
}

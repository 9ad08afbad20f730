/** Creates flags from option tables, and reads the configuration from flags. */
import { type Command, Option as Flag } from "commander";
import { type Option, toFlag, toVariable } from "../config/define-option.ts";
import { type Config, type OptionTable, resolveConfig, type Sources } from "../config/resolve.ts";

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

/** Reads the configuration from flags, environment, file and defaults. */
export const readConfig = <T extends OptionTable>(command: Command, table: T): Config<T> =>
  resolveConfig(table, sourcesOf(command));

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

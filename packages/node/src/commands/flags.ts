/**
 * Creates flags from option tables, reads the configuration from flags, and finds environment variables named `UNIKNODE_...`
 * that no option reads, most of them misspelt.
 */
import { join } from "node:path";
import { type Command, Option as Flag } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { type Option, toFlag, toVariable } from "../config/define-option.ts";
import { devOptions, runOptions } from "../config/options.ts";
import {
  type Config,
  type OptionTable,
  resolveConfig,
  resolveOrigins,
  type Sources,
} from "../config/resolve.ts";
import { ConfigError } from "../platform/coded-error.ts";
import { mostSimilar } from "../platform/text/wording.ts";
import { readLockHolder } from "../store/engine/lock-holder.ts";

export class OptionFlag extends Flag {
  /** Environment variable of the option. */
  readonly environmentName: string;
  /** Accepted values; empty if any value may be given. */
  readonly values: readonly string[];

  constructor(option: Option) {
    super(flagText(option), helpText(option));
    // "no-open" is a switch like others, not the negation of "open".
    this.negate = false;
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

/** Adds the flags of a table to a command, whose action gets the values of the options, and then its arguments. */
export const withOptions = <T extends OptionTable, Arguments extends readonly unknown[]>(
  command: Command,
  table: T,
  run: (config: Config<T>, ...given: Arguments) => void | Promise<void>,
): Command =>
  addFlags(command, table).action((...given: unknown[]) =>
    run(readConfig(command, table), ...(given as unknown as Arguments)),
  );

/**
 * Reads the configuration from flags, environment, file and defaults. If no base URL of a node is given, or only a data folder is an
 * argument, uses the base URL of the running node in the data folder.
 *
 * @throws {ConfigError}
 */
export const readConfig = <T extends OptionTable>(command: Command, table: T): Config<T> =>
  resolveConfig(table, withUrl(table, sourcesOf(command)));

function withUrl(table: OptionTable, sources: Sources): Sources {
  if (!("url" in table && "data" in table)) return sources;
  const { url, data } = resolveOrigins(table, sources);
  const folder = data?.read();
  if (typeof folder !== "string" || url?.origin === "argument") return sources;
  // A flag takes precedence over the environment: the token of the folder must not be sent to another node.
  if (url?.origin !== "default" && data?.origin !== "argument") return sources;
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

const PREFIX = "UNIKNODE_";
/** Variables that are not flags of a command, and variables that a shell or a container sets for all commands. */
const COMMON = [
  "UNIKNODE_PASSPHRASE",
  "UNIKNODE_SECOND_PASSPHRASE",
  "UNIKNODE_FACTORY_PASSPHRASE",
  "UNIKNODE_STACK",
  ...[runOptions, devOptions, connectionOptions].flatMap((table) => Object.values(table).map(toVariable)),
];
/** Prefix of variables for modules that tests preload. */
const TEST_PREFIX = "UNIKNODE_TEST_";

/** Lists the variables of a command and its subcommands. */
export const variablesOf = (command: Command): readonly string[] => [
  ...command.options.flatMap((flag) => (flag instanceof OptionFlag ? [flag.environmentName] : [])),
  ...command.commands.flatMap(variablesOf),
];

/** Lists every variable of this program. */
const knownVariables = (program: Command): readonly string[] => [
  ...new Set([...COMMON, ...variablesOf(program)]),
];

/**
 * Returns a warning for each unknown variable, with the most similar known name. Values are omitted, because they may be
 * secrets.
 *
 * @param createProgram is called only if a variable is doubtful: it loads every command
 * @param own variables of the running command, which are known without loading the others
 */
export async function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  createProgram: () => Promise<Command>,
  own: readonly string[] = [],
): Promise<readonly string[]> {
  const near = new Set([...COMMON, ...own]);
  const isGiven = (name: string) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX);
  const doubtful = Object.keys(environment).filter((name) => isGiven(name) && !near.has(name));
  if (doubtful.length === 0) return [];
  const known = knownVariables(await createProgram());
  return doubtful.filter((name) => !known.includes(name)).map((name) => sentenceOf(name, known));
}

function sentenceOf(name: string, known: readonly string[]): string {
  const meant = probablyMeant(
    name.slice(PREFIX.length),
    known.map((other) => other.slice(PREFIX.length)),
  );
  const hint =
    meant === undefined
      ? "docs/reference/configuration.md lists all variables"
      : `did you mean ${PREFIX}${meant}?`;
  return `environment variable ${name} is unknown and has no effect; ${hint}`;
}

/** Finds the most similar name, or a name of which the given one is the end, such as `TOKEN`. Neither has the prefix. */
const probablyMeant = (name: string, known: readonly string[]): string | undefined =>
  mostSimilar(name, known) ?? known.find((other) => name !== "" && other.endsWith(`_${name}`));

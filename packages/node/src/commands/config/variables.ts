/** Finds environment variables named `UNIKNODE_...` that no option reads, most of them misspelt. */
import type { Command } from "commander";
import { connectionOptions } from "../../config/connection.ts";
import { toVariable } from "../../config/define-option.ts";
import { devOptions, runOptions } from "../../config/options.ts";
import { mostSimilar } from "../../platform/text/similar.ts";
import { OptionFlag } from "../options.ts";

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

/** Every variable of this program. */
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

/** Compares names without the common prefix. A name may also lack its first words: `TOKEN`. */
const probablyMeant = (name: string, known: readonly string[]): string | undefined =>
  mostSimilar(name, known) ?? known.find((other) => name !== "" && other.endsWith(`_${name}`));

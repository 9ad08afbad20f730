/** Finds environment variables named `UNIKNODE_...` that no option reads, most of them misspelt. */
import type { Command } from "commander";
import { toVariable } from "../../config/option.ts";
import { runOptions } from "../../config/options.ts";
import { mostSimilar } from "../../platform/text/similar.ts";
import { OptionFlag } from "../options.ts";

const PREFIX = "UNIKNODE_";
/** Variables that are not options of a command. */
const OTHERS = [
  "UNIKNODE_PASSPHRASE",
  "UNIKNODE_SECOND_PASSPHRASE",
  "UNIKNODE_FACTORY_PASSPHRASE",
  "UNIKNODE_STACK",
  ...Object.values(runOptions).flatMap((option) => ("hasNoFlag" in option ? [toVariable(option)] : [])),
];
/** Prefix of variables for modules that tests preload. */
const TEST_PREFIX = "UNIKNODE_TEST_";

/** Lists the variables of a command and its subcommands. */
export const variablesOf = (command: Command): readonly string[] => [
  ...command.options.flatMap((flag) => (flag instanceof OptionFlag ? [flag.environmentName] : [])),
  ...command.commands.flatMap(variablesOf),
];

/** Lists all variables of the program. */
async function knownVariables(): Promise<readonly string[]> {
  // Imported on demand, because the program contains the commands that call this function.
  const { createProgram } = await import("../program.ts");
  return [...new Set([...OTHERS, ...variablesOf(await createProgram())])];
}

/**
 * Returns a warning for each unknown variable, with the most similar known name. Values are omitted, because they may be
 * secrets.
 *
 * @param own variables of the running command, which are known without loading the others
 */
export async function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  own: readonly string[] = [],
): Promise<readonly string[]> {
  const near = new Set([...OTHERS, ...own]);
  const isGiven = (name: string) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX);
  const doubtful = Object.keys(environment).filter((name) => isGiven(name) && !near.has(name));
  if (doubtful.length === 0) return [];
  const known = await knownVariables();
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

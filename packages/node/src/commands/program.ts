/** Builds the program from its commands, with groups, examples and exit codes in every help text. */
import { Command } from "commander";
import { COMMANDS, type CommandEntry, GROUPS } from "./catalogue.ts";
import { versionLine } from "./version.ts";

const EXIT_CODES = `
Exit codes: 0 success, 1 failure, 2 invalid command line or configuration.`;

/** Creates the program with the given commands; all commands by default. */
export async function createProgram(entries: readonly CommandEntry[] = COMMANDS): Promise<Command> {
  const program = new Command("uniknode")
    .description("A complete node of the Unikname Network.")
    .version(
      versionLine(),
      "-v, --version",
      "Show the versions of the protocol, the program and its runtime.",
    )
    .helpOption("-h, --help", "Show the help of the program or of a command.")
    .helpCommand("help [command]", "show the help of a command")
    .addHelpText(
      "after",
      `
Examples:
  uniknode dev                    start a chain on this machine
  uniknode webhooks create --help  show options and examples of a command
${EXIT_CODES}`,
    );
  for (const group of GROUPS) {
    for (const entry of entries.filter((entry) => entry.group === group)) {
      const command = await entry.load(createProgram);
      program.addCommand(command.helpGroup(group), { hidden: entry.isHidden ?? false });
      addExamples(command, entry.name, entry.examples);
    }
  }
  return program;
}

/** Adds to each command the examples that begin with its path. */
function addExamples(command: Command, path: string, examples: readonly string[]): void {
  const own = examplesOf(path, examples);
  const title = own.length === 1 ? "Example:" : "Examples:";
  const lines = own.map((example) => `\n  ${example}`).join("");
  command.addHelpText("after", `\n${title}${lines}\n${EXIT_CODES}`);
  for (const below of command.commands) addExamples(below, `${path} ${below.name()}`, examples);
}

/** Returns the examples of a command path, such as `webhooks list`. */
export const examplesOf = (path: string, examples: readonly string[]): readonly string[] =>
  examples.filter((example) => new RegExp(`uniknode ${path}(?![\\w-])`).test(example));

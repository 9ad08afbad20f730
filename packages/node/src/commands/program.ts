/** Builds the program from its commands, with groups, examples and exit codes in every help text. */
import { Command, Help } from "commander";
import { versionLine } from "../platform/lifecycle/version.ts";
import { COMMANDS, GROUPS } from "./catalogue.ts";

const EXIT_CODES = `
Exit codes: 0 success, 1 failure, 2 invalid command line or configuration.`;

/**
 * Creates the program.
 *
 * @param isLoaded selects the commands to load; of the others, the program only knows what its help shows
 */
export async function createProgram(isLoaded: (name: string) => boolean = () => true): Promise<Command> {
  const program = new Command("uniknode")
    .description("A complete node of the Unikname Network.")
    .version(
      versionLine(),
      "-v, --version",
      "Show the versions of the protocol, the program and its runtime.",
    )
    .helpOption("-h, --help", "Show the help of the program or of a command.")
    .helpCommand("help [command]", "show the help of a command")
    .configureHelp({ subcommandTerm: termOf })
    .addHelpText(
      "after",
      `
Examples:
  uniknode dev                    start a chain on this machine
  uniknode webhooks create --help  show options and examples of a command
${EXIT_CODES}`,
    );
  for (const group of GROUPS) {
    for (const entry of COMMANDS.filter((entry) => entry.group === group)) {
      const { name, description, examples } = entry;
      const command = isLoaded(name) ? await entry.load(createProgram) : new Command(name);
      program.addCommand(command.description(description).helpGroup(group), {
        hidden: entry.isHidden ?? false,
      });
      addExamples(command, name, examples);
    }
  }
  return program;
}

/** Returns the name and usage of a command, which does not have to be loaded. */
function termOf(command: Command): string {
  const entry = COMMANDS.find(({ name }) => name === command.name());
  return entry === undefined ? new Help().subcommandTerm(command) : `${entry.name} ${entry.usage}`.trimEnd();
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

/**
 * Builds the program from its commands, with groups, examples and exit codes in every help text. The help of a command with many
 * options shows the frequent ones, and all of them with `--help all`.
 */
import { Command, Help, type Option } from "commander";
import { versionLine } from "../platform/lifecycle/program.ts";
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

/** Argument after `--help`. */
const ALL = "all";
/** Maximum number of options that are shown without groups. */
const MAX_UNGROUPED = 30;

/** Option groups in the order of the help, with patterns of option names; all other options go into the last group. */
const OPTION_GROUPS: readonly (readonly [title: string, names: RegExp])[] = [
  ["Dev chain:", /^(blockTime|instant|accounts|mnemonic|reset)$/],
  ["Network:", /^(network|networkDir|genesis|alone|assumeValid|timeServers)$/],
  ["Data and API:", /^(data|http\w*|console|rateLimit)$/],
  ["Webhooks and events:", /^(webhook\w*|events\w*)$/],
  ["Forging:", /^(delegates|signingRecord|watchRounds)$/],
  ["Transaction pool:", /^pool\w*$/],
  ["Peers:", /^(p2p\w*|peers\w*)$/],
  ["Operation:", /^(log\w*|operations\w*|metricsPublic|feed\w*|history)$/],
];
const OTHERS = "Options:";
const TITLES = [...OPTION_GROUPS.map(([title]) => title), OTHERS];

/** Options shown without `all`, in addition to the command's own groups. */
const FREQUENT = ["data", "httpHost", "httpPort", "webhookToken", "delegates", "logLevel"];
const FREQUENT_OF_NETWORKS = ["peers"];
const OWN_GROUPS = ["Dev chain:", "Network:", OTHERS];

/** Detects `dev --help all` and `help dev all`, and removes `all` from the command line. */
export function readHelpAll(args: readonly string[]): {
  readonly isAll: boolean;
  readonly args: readonly string[];
} {
  const isAfterHelp = (index: number) =>
    /^(-h|--help)$/.test(args[index - 1] ?? "") || (args[0] === "help" && index === args.length - 1);
  const at = args.findIndex((arg, index) => arg === ALL && isAfterHelp(index));
  return at < 0 ? { isAll: false, args } : { isAll: true, args: args.toSpliced(at, 1) };
}

/** Groups the options of the command and its subcommands if there are many. */
export function groupHelp(command: Command, isAll: boolean, path: readonly string[] = []): void {
  for (const below of command.commands) groupHelp(below, isAll, [...path, below.name()]);
  if (command.options.length <= MAX_UNGROUPED) return;
  for (const option of command.options) option.helpGroup(groupOf(option));
  command.helpOption("-h, --help [all]", "Show this help, or every option with --help all.");
  const isShown = (option: Option) => isAll || isFrequent(option, command);
  const hidden = command.options.filter((option) => !option.hidden && !isShown(option)).length;
  command.configureHelp({
    visibleOptions: (shown) => new Help().visibleOptions(shown).filter(isShown),
    groupItems: (items, visible, group) =>
      new Map([...new Help().groupItems(items, visible, group)].sort(([a], [b]) => indexOf(a) - indexOf(b))),
  });
  if (hidden > 0)
    command.addHelpText("after", `\n${hidden} more options: uniknode ${path.join(" ")} --help all`);
}

const groupOf = (option: Option): string =>
  OPTION_GROUPS.find(([, names]) => names.test(option.attributeName()))?.[0] ?? OTHERS;

function isFrequent(option: Option, command: Command): boolean {
  const hasNetwork = command.options.some((other) => other.attributeName() === "network");
  const names = hasNetwork ? [...FREQUENT, ...FREQUENT_OF_NETWORKS] : FREQUENT;
  return OWN_GROUPS.includes(groupOf(option)) || names.includes(option.attributeName());
}

const indexOf = (title: string): number => TITLES.indexOf(title);

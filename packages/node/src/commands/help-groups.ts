/** Groups the options in the help of node commands: frequent options by default, all options with `--help all`. */
import { type Command, Help, type Option } from "commander";

/** Argument after `--help`. */
const ALL = "all";
/** Maximum number of options that are shown without groups. */
const MAX_UNGROUPED = 30;

/** Option groups in the order of the help, with patterns of option names; all other options go into the last group. */
const GROUPS: readonly (readonly [title: string, names: RegExp])[] = [
  ["Dev chain:", /^(blockTime|instant|accounts|mnemonic|reset)$/],
  ["Network:", /^(network|networkDir|genesis|alone|assumeValid|timeServers)$/],
  ["Data and API:", /^(data|http\w*|console|rateLimit)$/],
  ["Webhooks and events:", /^(webhook\w*|events\w*)$/],
  ["Forging:", /^(delegates|signingRecord|watchRounds)$/],
  ["Transaction pool:", /^pool\w*$/],
  ["Peers:", /^(p2p\w*|peers\w*)$/],
  ["Operation:", /^(log\w*|operations\w*|metricsPublic|compareWith|feed\w*|history)$/],
];
const OTHERS = "Options:";
const TITLES = [...GROUPS.map(([title]) => title), OTHERS];

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
  GROUPS.find(([, names]) => names.test(option.attributeName()))?.[0] ?? OTHERS;

function isFrequent(option: Option, command: Command): boolean {
  const hasNetwork = command.options.some((other) => other.attributeName() === "network");
  const names = hasNetwork ? [...FREQUENT, ...FREQUENT_OF_NETWORKS] : FREQUENT;
  return OWN_GROUPS.includes(groupOf(option)) || names.includes(option.attributeName());
}

const indexOf = (title: string): number => TITLES.indexOf(title);

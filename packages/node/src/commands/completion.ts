/**
 * `uniknode completion`: derives the words that can follow each command from its declaration, and prints a script that
 * completes them in a shell.
 */
import { Argument, Command, type Option } from "commander";
import { EVENTS, loggedName } from "../events/catalogue.ts";
import { OptionFlag } from "./flags.ts";
import { WEBHOOK_ID } from "./webhooks/service.ts";

export const completionCommand = (createProgram: () => Promise<Command>): Command =>
  new Command("completion")
    .addArgument(new Argument("<shell>", "shell that runs the script").choices(Object.keys(scripts)))
    .action(async (shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell](placesOf(await createProgram())));
    });

type Flag = {
  readonly flag: string;
  readonly takesValue: boolean;
  readonly description: string;
  /** Values to offer; empty if a file or any text may follow. */
  readonly choices: readonly string[];
};

/** A command with the words that may follow it. */
type Place = {
  /** Command path: `""`, `" webhooks"`, `" webhooks list"`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly Flag[];
  /** Values to offer for its first argument; empty if it has none, or any text may follow. */
  readonly choices: readonly string[];
  /** True if its first argument is the id of a webhook, which only the node knows. */
  readonly takesWebhook: boolean;
};

const EVENT_NAMES = Object.keys(EVENTS).filter((name) => loggedName(name) === name);

/** Lists the program and all its commands. */
export function placesOf(command: Command, path = ""): readonly Place[] {
  const help = command.createHelp();
  const visible = help.visibleCommands(command);
  const commands = visible.map((below) => ({
    name: below.name(),
    description: firstSentence(below.description()),
  }));
  const flags = help.visibleOptions(command).map((option) => ({
    flag: option.long ?? "",
    takesValue: option.required || option.optional,
    description: firstSentence(option.description),
    choices: choicesOf(option),
  }));
  const [argument] = command.registeredArguments;
  const choices = argument === undefined ? [] : choicesOf(argument);
  const takesWebhook = argument?.description === WEBHOOK_ID;
  return [
    { path, commands, flags, choices, takesWebhook },
    ...command.commands
      .filter((below) => visible.includes(below))
      .flatMap((below) => placesOf(below, `${path} ${below.name()}`)),
  ];
}

/** Returns the values to offer; for events only names, although patterns are accepted as well. */
function choicesOf(part: Option | Argument): readonly string[] {
  if (part.name() === "event") return EVENT_NAMES;
  return part.argChoices ?? (part instanceof OptionFlag ? part.values : []);
}

/** Returns the commands and flags that may follow. */
const wordsOf = ({ commands, flags }: Place): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...flags.map(({ flag }) => flag),
];

const firstSentence = (text: string): string => text.replace(/[.;(\n][\s\S]*/, "").trim();

export const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Calls the program as it was typed, to complete webhook ids from the node of the command line. */
const BASH_WEBHOOKS = `words="$words $("\${COMP_WORDS[0]}" complete webhooks -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2> /dev/null)"`;
const ZSH_WEBHOOKS = `compadd -- $("\${(Q)words[1]}" complete webhooks -- "\${(@)words[2,CURRENT-1]}" 2> /dev/null)`;

/**
 * Completes the words that may follow; if none matches, bash completes files. `given` counts arguments, because values
 * are offered only for the first argument.
 */
function bashScript(places: readonly Place[]): string {
  return `# Completion of uniknode for bash: eval "$(uniknode completion bash)"
_uniknode() {
  local place="" before="" given=0 word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${counting(places)}
    before="$word"
  done
  local words=""
  case "$place" in
${cases(places, (words) => `words="${words}"`)}
  esac
  if [[ $given == 0 ]]; then
    case "$place" in
${chosenArguments(places, (values) => `words="$words ${values}"`)}
${webhookCase(places, BASH_WEBHOOKS)}
    esac
  fi
  COMPREPLY=()
  case "$place \${COMP_WORDS[COMP_CWORD - 1]}" in
${chosenValues(places, (values) => `words="${values}"`)}
    ${valueFlags(places)}) return ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _uniknode uniknode
`;
}

function zshScript(places: readonly Place[]): string {
  return `#compdef uniknode
# Completion of uniknode for zsh: store it as _uniknode in a folder of $fpath.
_uniknode() {
  local place="" before="" given=0 word
  for word in "\${(@)words[2,CURRENT-1]}"; do
${counting(places)}
    before="$word"
  done
  case "$place \${words[CURRENT-1]}" in
${chosenValues(places, (values) => `compadd -- ${values}; return`)}
    ${valueFlags(places)}) _files; return ;;
  esac
  if [[ $given == 0 ]]; then
    case "$place" in
${chosenArguments(places, (values) => `compadd -- ${values}`)}
${webhookCase(places, ZSH_WEBHOOKS)}
    esac
  fi
  case "$place" in
${cases(places, (words) => `compadd -- ${words}`)}
  esac
  [[ "\${words[CURRENT]}" == -* || "$place" == (${placesWithoutFiles(places)}) ]] || _files
}
if [[ "$funcstack[1]" == _uniknode ]]; then _uniknode "$@"; else compdef _uniknode uniknode; fi
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, flags, choices, takesWebhook }) => {
    const start = `complete -c uniknode -n '__uniknode_at "${path}"'`;
    const first = `complete -c uniknode -n '__uniknode_at "${path}" first'`;
    return [
      ...commands.map(({ name, description }) => `${start} -f -a ${name} -d ${quoted(description)}`),
      ...choices.map((choice) => `${first} -f -a ${choice}`),
      ...(takesWebhook ? [`${first} -f -a '(__uniknode_webhooks)'`] : []),
      ...flags.map(
        (flag) => `${start} -l ${flag.flag.slice(2)}${fishValue(flag)} -d ${quoted(flag.description)}`,
      ),
    ];
  });
  return `# Completion of uniknode for fish.
function __uniknode_at
  set -l place ""
  set -l before ""
  set -l given 0
  for word in (commandline -opc)[2..-1]
    if contains -- "$place $word" ${pathsOf(places)
      .map((path) => `"${path}"`)
      .join(" ")}
      set place "$place $word"
      set given 0
    else if not string match -q -- "-*" $word; and not contains -- "$before" ${valueFlagNames(places).join(" ")}
      set given (math $given + 1)
    end
    set before $word
  end
  test "$place" = "$argv[1]"; and begin
    test (count $argv) = 1; or test $given = 0
  end
end
function __uniknode_webhooks
  set -l words (commandline -opc)
  $words[1] complete webhooks -- $words[2..-1] 2> /dev/null
end
${lines.join("\n")}
`;
}

/** Returns shell code that classifies a word as command, option, option value or argument, and counts arguments. */
const counting = (places: readonly Place[]): string => `    case "$place $word" in
      ${patterns(places)}) place="$place $word"; given=0 ;;
      *" -"*) ;;
      *) case "$place $before" in
        ${valueFlags(places)}) ;;
        *) given=$((given + 1)) ;;
      esac ;;
    esac`;

const pathsOf = (places: readonly Place[]): string[] =>
  places.flatMap(({ path }) => (path === "" ? [] : [path]));

const patterns = (places: readonly Place[]): string =>
  pathsOf(places)
    .map((path) => `"${path}"`)
    .join(" | ");

const cases = (places: readonly Place[], show: (words: string) => string): string =>
  places.map((place) => `    "${place.path}") ${show(wordsOf(place).join(" "))} ;;`).join("\n");

/** Returns the cases for first arguments with known values. */
const chosenArguments = (places: readonly Place[], show: (values: string) => string): string =>
  places
    .filter(({ choices }) => choices.length > 0)
    .map(({ path, choices }) => `    "${path}") ${show(choices.join(" "))} ;;`)
    .join("\n");

const webhookCase = (places: readonly Place[], show: string): string =>
  `    ${patterns(places.filter(({ takesWebhook }) => takesWebhook))}) ${show} ;;`;

/** Returns the cases for flags with known values. */
const chosenValues = (places: readonly Place[], show: (values: string) => string): string =>
  places
    .flatMap(({ path, flags }) => flags.map(({ flag, choices }) => ({ at: `${path} ${flag}`, choices })))
    .filter(({ choices }) => choices.length > 0)
    .map(({ at, choices }) => `    "${at}") ${show(choices.join(" "))} ;;`)
    .join("\n");

const fishValue = ({ takesValue, choices }: Flag): string => {
  if (choices.length > 0) return ` -x -a '${choices.join(" ")}'`;
  return takesValue ? " -r" : "";
};

/** Returns the commands after which no file may follow, because all values are known. */
const placesWithoutFiles = (places: readonly Place[]): string =>
  places
    .filter(({ commands, choices, takesWebhook }) => takesWebhook || commands.length + choices.length > 0)
    .map(({ path }) => `"${path}"`)
    .join("|");

const valueFlagNames = (places: readonly Place[]): string[] => [
  ...new Set(
    places.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue).map(({ flag }) => flag)),
  ),
];

/** Returns the pattern of the flags that are followed by a value. */
const valueFlags = (places: readonly Place[]): string =>
  valueFlagNames(places)
    .map((flag) => `*" ${flag}"`)
    .join(" | ");

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** Completion scripts of the shells, from the places of the program. */
import { type Flag, type Place, wordsOf } from "./words.ts";

export const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** Words that continue the command; where none fits, bash completes files. */
function bashScript(places: readonly Place[]): string {
  return `# Completion of uniknode for bash: eval "$(uniknode completion bash)"
_uniknode() {
  local place="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
      ${patterns(places)}) place="$place $word" ;;
    esac
  done
  local words=""
  case "$place" in
${cases(places, (words) => `words="${words}"`)}
  esac
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
  local place="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
      ${patterns(places)}) place="$place $word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${chosenValues(places, (values) => `compadd -- ${values}; return`)}
    ${valueFlags(places)}) _files; return ;;
  esac
  case "$place" in
${cases(places, (words) => `compadd -- ${words}`)}
  esac
  [[ "\${words[CURRENT]}" == -* || "$place" == (${placesWithoutFiles(places)}) ]] || _files
}
if [[ "$funcstack[1]" == _uniknode ]]; then _uniknode "$@"; else compdef _uniknode uniknode; fi
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, flags, choices }) => {
    const start = `complete -c uniknode -n '__uniknode_at "${path}"'`;
    return [
      ...commands.map(({ name, description }) => `${start} -f -a ${name} -d ${quoted(description)}`),
      ...choices.map((choice) => `${start} -f -a ${choice}`),
      ...flags.map(
        (flag) => `${start} -l ${flag.flag.slice(2)}${fishValue(flag)} -d ${quoted(flag.description)}`,
      ),
    ];
  });
  return `# Completion of uniknode for fish.
function __uniknode_at
  set -l place ""
  for word in (commandline -opc)[2..-1]
    if contains -- "$place $word" ${pathsOf(places)
      .map((path) => `"${path}"`)
      .join(" ")}
      set place "$place $word"
    end
  end
  test "$place" = "$argv[1]"
end
${lines.join("\n")}
`;
}

const pathsOf = (places: readonly Place[]): string[] =>
  places.flatMap(({ path }) => (path === "" ? [] : [path]));

const patterns = (places: readonly Place[]): string =>
  pathsOf(places)
    .map((path) => `"${path}"`)
    .join(" | ");

const cases = (places: readonly Place[], show: (words: string) => string): string =>
  places.map((place) => `    "${place.path}") ${show(wordsOf(place).join(" "))} ;;`).join("\n");

/** For flags that take one of a few values: their values, where the flag is that of the place. */
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

/** Places where a file is no answer, since only the values that are known are. */
const placesWithoutFiles = (places: readonly Place[]): string =>
  places
    .filter(({ commands, choices }) => commands.length + choices.length > 0)
    .map(({ path }) => `"${path}"`)
    .join("|");

/** Flags that are followed by a value: it is no command, and often a file. */
const valueFlags = (places: readonly Place[]): string =>
  [
    ...new Set(
      places.flatMap(({ flags }) =>
        flags.filter(({ takesValue }) => takesValue).map(({ flag }) => `*" ${flag}"`),
      ),
    ),
  ].join(" | ");

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

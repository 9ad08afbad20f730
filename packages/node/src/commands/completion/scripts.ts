/** Completion scripts of the shells, from the places of the program. */
import { type Place, wordsOf } from "./words.ts";

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
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
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
  case "\${words[CURRENT-1]}" in
    ${valueFlags(places)}) _files; return ;;
  esac
  case "$place" in
${cases(places, (words) => `compadd -- ${words}`)}
  esac
  [[ "\${words[CURRENT]}" == -* ]] || _files
}
if [[ "$funcstack[1]" == _uniknode ]]; then _uniknode "$@"; else compdef _uniknode uniknode; fi
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, flags }) => {
    const start = `complete -c uniknode -n '__uniknode_at "${path}"'`;
    return [
      ...commands.map(({ name, description }) => `${start} -f -a ${name} -d ${quoted(description)}`),
      ...flags.map(
        ({ flag, takesValue, description }) =>
          `${start} -l ${flag.slice(2)}${takesValue ? " -r" : ""} -d ${quoted(description)}`,
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

/** Flags that are followed by a value: it is no command, and often a file. */
const valueFlags = (places: readonly Place[]): string =>
  [
    ...new Set(
      places.flatMap(({ flags }) => flags.filter(({ takesValue }) => takesValue).map(({ flag }) => flag)),
    ),
  ].join(" | ");

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

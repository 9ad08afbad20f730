/** Shells with completion: returns the candidates that the shell itself offers. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingProgram } from "./available.ts";
import { WAIT_MS } from "./until.ts";

export type Shell = "bash" | "zsh" | "fish";

/** Returns why a shell cannot be used here, or undefined. */
export const missingShell = (shell: Shell): string | undefined => missingProgram(shell, ["-c", "true"]);

/**
 * Candidates that the shell offers at the end of the line, in its order, with the completion script loaded.
 * @param bin folder with the programs that the script calls
 */
export function completionsOf(shell: Shell, script: string, line: string, bin = ""): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-completion-"));
  try {
    // zsh finds a function with this name in a folder of $fpath.
    writeFileSync(join(folder, "_uniknode"), script);
    writeFileSync(join(folder, "file"), "");
    const { stdout, stderr, status } = spawnSync(shell, [...CLEAN[shell], "-c", PROGRAMS[shell]], {
      cwd: folder,
      env: { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LINE: line, TERM: "dumb" },
      encoding: "utf8",
      timeout: WAIT_MS,
    });
    if (status !== 0) throw new Error(`${shell} ended with ${status}: ${stderr}`);
    return stdout.split("\n").filter((found) => found !== "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Shell options that skip the settings of the user. */
const CLEAN = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] };

const BASH = `
source ./_uniknode
read -ra COMP_WORDS <<< "$LINE"
[[ "$LINE" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_uniknode
printf '%s\\n' "\${COMPREPLY[@]}"`;

/** A tab precedes the description. */
const FISH = 'source ./_uniknode; complete -C "$LINE" | string replace -r "\\t.*" ""; true';

/** Runs a shell at its own terminal, because it completes only there; the candidates go into a file. */
const ZSH = `
zmodload zsh/zpty
zpty inner 'PS1= zsh -f -i'
zpty -w inner 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w inner 'compadd() { local -a found; builtin compadd -A found "$@"; print -rl -- $found >> found; builtin compadd "$@" }'
zpty -w inner 'finish() { touch finished }; zle -N finish; bindkey "^G" finish; touch ready'
await() { until [[ -e $1 ]]; do zpty -r -t inner drained; sleep 0.05; done }
await ready
zpty -n -w inner "$LINE"$'\\t\\C-g'
await finished
[[ -e found ]] && cat found
zpty -d inner`;

const PROGRAMS = { bash: BASH, zsh: ZSH, fish: FISH };

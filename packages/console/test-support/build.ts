/** Built files, as `npm run build` creates them. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const VITE = join(ROOT, "../../node_modules/vite/bin/vite.js");

/** File of the manifest of vite. */
export type BuiltFile = {
  readonly file: string;
  /** Names in the manifest of the files that are loaded before it runs. */
  readonly imports?: readonly string[];
  readonly isEntry?: true;
};

/**
 * Builds in a separate process, because tests have another environment. Returns the manifest, by the names of
 * sources.
 */
export function buildConsole(folder: string): Readonly<Record<string, BuiltFile>> {
  const { NODE_ENV: _, ...env } = process.env;
  const args = [VITE, "build", "--outDir", folder, "--manifest", "manifest.json", "--logLevel", "error"];
  execFileSync(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "ignore", "inherit"] });
  return JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Record<string, BuiltFile>;
}

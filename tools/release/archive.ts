/** Reproducible archives: the same content gives the same bytes. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ROOT } from "./packages.ts";

/** Time of the released commit, in seconds. */
export const sourceTime = (): string =>
  process.env.SOURCE_DATE_EPOCH ??
  execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: ROOT, encoding: "utf8" }).trim();

/** Packs a folder under its own name. */
export function packFolder(folder: string, file: string): void {
  const stable = ["--sort=name", `--mtime=@${sourceTime()}`, "--owner=0", "--group=0", "--numeric-owner"];
  execFileSync("tar", [...stable, "-czf", file, "-C", dirname(folder), basename(folder)]);
}

/** Returns the checksums in the format of `sha256sum --check`. */
export const checksums = (files: readonly string[]): string =>
  files
    .map((file) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${basename(file)}\n`)
    .join("");

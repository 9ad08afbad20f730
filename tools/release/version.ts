/** `npm run release -- version`: computes the next version from the changes in `.changeset`. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addSection, changelogSection, nextVersion, readChanges } from "./changes.ts";
import { PACKAGES, versionOf } from "./packages.ts";

/**
 * Writes the next version into every manifest, and the changes into the changelog. Returns the next steps.
 *
 * @param root folder of the workspace
 * @param day of the release, as 2026-11-23
 */
export function makeVersion(root: string, day: string): string {
  const changes = readChanges(join(root, ".changeset"));
  if (changes.length === 0) return "No changes in .changeset: nothing to release.";
  const before = versionOf(root);
  const version = nextVersion(before, changes);
  const manifests = ["package.json", ...PACKAGES.map((name) => `packages/${name}/package.json`)];
  for (const path of manifests) {
    rewrite(join(root, path), (text) =>
      text.replaceAll(/("(?:version|@uniknode\/\w+)": )"([\d.]+)"/g, (line, name: string, found: string) =>
        found === before ? `${name}"${version}"` : line,
      ),
    );
  }
  const flags = ["--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  execFileSync("npm", ["install", ...flags, "--loglevel=error"], { cwd: root });
  rewrite(join(root, "CHANGELOG.md"), (text) => addSection(text, changelogSection(version, day, changes)));
  for (const { file } of changes) rmSync(file);
  return `Version ${version}. Read CHANGELOG.md, commit, and run: npm run release`;
}

function rewrite(path: string, change: (text: string) => string): void {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

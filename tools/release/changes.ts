/** Changes since the last release, one file each in `.changeset`, and the changelog. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const BUMPS = ["major", "minor", "patch"] as const;

export type Bump = (typeof BUMPS)[number];
export type Change = { readonly file: string; readonly bump: Bump; readonly text: string };

const HEADINGS: Readonly<Record<Bump, string>> = {
  major: "What you have to change",
  minor: "New",
  patch: "Mended",
};

/**
 * Reads the changes of a folder, by file name.
 *
 * @throws {Error} with the file and the expected line
 */
export const readChanges = (folder: string): Change[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const [, bump, text = ""] =
        /^---\n"?uniknode"?: (major|minor|patch)\n---\n(.+)$/s.exec(readFileSync(file, "utf8")) ?? [];
      if (!bump)
        throw new Error(`${file}: "---", "uniknode: major|minor|patch", "---" and a text are expected`);
      return { file, bump: bump as Bump, text: text.trim() };
    });

/** Returns the version after these changes, or the same one if there are none. */
export function nextVersion(version: string, changes: readonly Change[]): string {
  const [major, minor, patch] = version.split(".").map(Number) as [number, number, number];
  switch (BUMPS.find((bump) => changes.some((change) => change.bump === bump))) {
    case "major":
      return `${major + 1}.0.0`;
    case "minor":
      return `${major}.${minor + 1}.0`;
    case "patch":
      return `${major}.${minor}.${patch + 1}`;
    case undefined:
      return version;
  }
}

export const changelogSection = (version: string, day: string, changes: readonly Change[]): string =>
  [
    `## ${version} (${day})`,
    ...BUMPS.flatMap((bump) => {
      const items = changes.filter((change) => change.bump === bump);
      if (items.length === 0) return [];
      return [
        `### ${HEADINGS[bump]}`,
        items.map(({ text }) => `* ${text.replaceAll("\n", "\n  ")}`).join("\n"),
      ];
    }),
  ].join("\n\n");

/** Inserts a section above the others of a changelog. */
export const addSection = (changelog: string, section: string): string => {
  const [title = "", ...sections] = changelog.split(/\n(?=## )/);
  return [title.trimEnd(), section, ...sections.map((text) => text.trimEnd())].join("\n\n").concat("\n");
};

/**
 * Returns the changelog section of a version without its heading.
 *
 * @throws {Error} if there is none
 */
export function sectionOf(changelog: string, version: string): string {
  const section = changelog.split(/^## /m).find((text) => text.split(/[\s(]/)[0] === version);
  if (!section) throw new Error(`CHANGELOG.md has no section for ${version}`);
  return section.slice(section.indexOf("\n")).trim();
}

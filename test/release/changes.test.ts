/** The next version and its notes, derived from the changes in `.changeset`. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  addSection,
  type Bump,
  changelogSection,
  nextVersion,
  readChanges,
  sectionOf,
} from "../../tools/release/changes.ts";
import { releaseNotes } from "../../tools/release/notes.ts";
import { PACKAGES, ROOT, versionOf } from "../../tools/release/packages.ts";
import { makeVersion } from "../../tools/release/version.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "uniknode-changes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const change = (bump: Bump, text = "Something.") => ({ file: "", bump, text });
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

test("Changes are read by file name, without the page that explains them.", () => {
  write("README.md", "How to write one.");
  write("b.md", "---\nuniknode: minor\n---\n\nNew.\nOn two lines.\n");
  write("a.md", '---\n"uniknode": patch\n---\nMended.\n');
  expect(readChanges(folder)).toEqual([
    { file: join(folder, "a.md"), bump: "patch", text: "Mended." },
    { file: join(folder, "b.md"), bump: "minor", text: "New.\nOn two lines." },
  ]);
});

test.each(["", "Text only.", "---\nuniknode: huge\n---\nText.", "---\nuniknode: minor\n---\n"])(
  "An invalid change is refused with the name of its file: %j.",
  (text) => {
    write("wrong.md", text);
    expect(() => readChanges(folder)).toThrow(`${folder}/wrong.md: "---", "uniknode: major|minor|patch"`);
  },
);

test("The changes of this repository can be read.", () => {
  expect(() => readChanges(join(ROOT, ".changeset"))).not.toThrow();
});

test.each<[string, Bump[], string]>([
  ["1.2.3", [], "1.2.3"],
  ["1.2.3", ["patch", "patch"], "1.2.4"],
  ["1.2.3", ["patch", "minor"], "1.3.0"],
  ["1.2.3", ["minor", "major", "patch"], "2.0.0"],
])("Version %s with changes %j is followed by %s.", (version, bumps, next) => {
  const changes = bumps.map((bump) => change(bump));
  expect(nextVersion(version, changes)).toBe(next);
});

test("A section is added above the others, the most important changes first, and found again.", () => {
  const changes = [change("patch", "Mended.\nReally."), change("major", "Removed."), change("patch", "Too.")];
  const before = "# Changelog\n\nIntroduction.\n\n## 0.1.0\n\nThe first one.\n";
  const after = addSection(before, changelogSection("1.0.0", "2026-11-23", changes));
  expect(after).toBe(
    "# Changelog\n\nIntroduction.\n\n## 1.0.0 (2026-11-23)\n\n### What you have to change\n\n* Removed.\n\n### Mended\n\n" +
      "* Mended.\n  Really.\n* Too.\n\n## 0.1.0\n\nThe first one.\n",
  );
  expect(sectionOf(after, "0.1.0")).toBe("The first one.");
  expect(sectionOf(after, "1.0.0")).toMatch(/^### What you have to change\n.*Too\.$/s);
  expect(() => sectionOf(after, "1.0")).toThrow("CHANGELOG.md has no section for 1.0");
});

test("The changelog has the version of the packages, and the notes name every file.", () => {
  const version = versionOf(ROOT);
  const files = [
    ...["uniknode", "uniknode-client", "uniknode-ledger", "uniknode-protocol"].map(
      (name) => `${name}-${version}.tgz`,
    ),
    ...[
      `uniknode-${version}-linux-x64.tar.gz`,
      `uniknode_${version}_amd64.deb`,
      `uniknode-${version}.cdx.json`,
    ],
  ];
  const notes = releaseNotes(version, readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), files);
  for (const file of files) expect(notes).toMatch(new RegExp(`^\\| ${file} \\| \\S.* \\|$`, "m"));
});

test("A new version is in every manifest and in the lock file, and its changes have moved to the changelog.", () => {
  const copied = ["package.json", "package-lock.json", "CHANGELOG.md", ".npmrc"];
  for (const name of copied) cpSync(join(ROOT, name), join(folder, name));
  const manifests = PACKAGES.map((name) => `packages/${name}/package.json`);
  for (const path of manifests) cpSync(join(ROOT, path), join(folder, path));
  mkdirSync(join(folder, ".changeset"));
  expect(makeVersion(folder, "2026-11-23")).toBe("No changes in .changeset: nothing to release.");

  write(".changeset/new.md", "---\nuniknode: minor\n---\nNew.\n");
  const next = nextVersion(versionOf(ROOT), [change("minor")]);
  expect(makeVersion(folder, "2026-11-23")).toContain(`Version ${next}.`);
  expect(versionOf(folder)).toBe(next);
  const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  for (const path of ["package.json", ...manifests]) {
    const { name, ...manifest } = JSON.parse(readFileSync(join(folder, path), "utf8"));
    expect(manifest.version, name).toBe(next);
    for (const [dependency, version] of Object.entries(manifest.dependencies ?? {})) {
      if (dependency.startsWith("@uniknode/")) expect(version, name).toBe(next);
    }
    expect(packages[path.replace(/\/?package\.json$/, "")].version, name).toBe(next);
  }
  expect(readdirSync(join(folder, ".changeset"))).toEqual([]);
  expect(sectionOf(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), next)).toBe("### New\n\n* New.");
});

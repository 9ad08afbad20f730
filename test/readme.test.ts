/** The first pages that readers see: the README and the templates of the repository's host. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { expect, test } from "vitest";
import { blocksOf } from "../packages/node/test-support/guides/page.ts";

const read = (path: string): string => readFileSync(path, "utf8");
const README = read("README.md");
/** Folders of generated or installed files. */
const SKIPPED = new Set(["node_modules", ".git", "dist", "release", "data", ".uniknode"]);

/** Paths below a folder, from the root of the repository. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !SKIPPED.has(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
const files = filesBelow(".");
const pages = files.filter((path) => path.endsWith(".md") && !path.startsWith("docs/decisions/"));

test("The repository has no empty file.", () => {
  expect(files.length).toBeGreaterThan(1_000);
  expect(files.filter((path) => statSync(path, { throwIfNoEntry: false })?.size === 0)).toEqual([]);
});

/** Kinds of files that belong to the repository. Logs, profiles, dumps and archives of packages do not. */
const KINDS = new Set(
  "ts tsx js mjs c h sql css html svg png json md txt yml yaml sh env py rb go php service gz node patch wasm npmrc gitignore containerignore"
    .split(" ")
    .map((kind) => `.${kind}`),
);
const WITHOUT_KIND =
  /^(LICENSE|bin\/uniknode|\.ci\/[a-z-]+|ops\/(container\/Containerfile|debian\/[a-z-]+)|packages\/node\/(native\/[a-z0-9-]+|templates\/receiver\/(gitignore|npmrc)))$/;
/** A name that begins with a dot is its own kind. */
const kindOf = (path: string) => extname(path) || `.${path.split(".").at(-1)}`;
const isForeign = (path: string) =>
  !WITHOUT_KIND.test(path) && (!/\.[^/]*$/.test(path) || !KINDS.has(kindOf(path)));

/** Files and folders whose purpose is known by their names. */
const USUAL =
  "CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md package.json package-lock.json .gitignore".split(
    " ",
  );

test("CONTRIBUTING names every file and folder of the root, except for the usual ones.", () => {
  const guide = readFileSync("CONTRIBUTING.md", "utf8");
  const section = guide.slice(guide.indexOf("## Files of the root"), guide.indexOf("## Add an event"));
  const names = execFileSync("git", ["-c", "safe.directory=*", "ls-files"], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((path) => path.split("/", 1)[0] ?? "");
  const isNamed = (name: string) => section.includes(`\`${name}\``) || section.includes(`\`${name}/`);
  expect([...new Set(names)].filter((name) => !USUAL.includes(name) && !isNamed(name))).toEqual([]);
});

test("Every tracked file is of a listed kind.", () => {
  const tracked = execFileSync("git", ["-c", "safe.directory=*", "ls-files", "-z"], { encoding: "utf8" });
  const paths = tracked.split("\0").filter((path) => path !== "");
  expect(paths.length).toBeGreaterThan(1_000);
  expect(paths.filter(isForeign)).toEqual([]);
});

test.each([
  ["isolate-0x1-1-v8.log", true],
  ["packages/node/CPU.20260101.cpuprofile", true],
  ["packages/node/core", true],
  [".gitignore", false],
  [".ci/run", false],
  ["packages/node/src/chain/chain.ts", false],
])("%s is of an unlisted kind: %s", (path, expected) => {
  expect(isForeign(path)).toBe(expected);
});

/** Packages of this repository by their names, in a command that fetches them from a registry. */
const FROM_REGISTRY =
  /\b(npx|npm (exec|create|i|install|add))( [^/\s]\S*)* (@uniknode\/\w|uniknode\b(?![-/*.]))/;

test("No page installs a package that is not published.", () => {
  const promises = [...pages, "packages/node/src/commands/catalogue.ts", "packages/node/src/commands/init.ts"]
    .flatMap((path) =>
      read(path)
        .split("\n")
        .map((line) => `${path}: ${line}`),
    )
    .filter((line) => FROM_REGISTRY.test(line));
  expect(promises).toEqual([]);
});

test.each([
  ["npx uniknode dev", true],
  ["npm install uniknode @uniknode/client", true],
  ["npm install @uniknode/client", true],
  ["npm exec uniknode dev", true],
  ["npm install ./release/uniknode-*.tgz", false],
  ["npm install release/*.tgz", false],
  ["npx openapi-typescript http://127.0.0.1:4003/api/openapi.json -o uniknode.d.ts", false],
])("%s fetches a package of this repository: %s", (line, expected) => {
  expect(FROM_REGISTRY.test(line)).toBe(expected);
});

test("The pages of the roles show no passphrase on a command line.", () => {
  for (const page of ["README.md", "docs/app-developers.md", "docs/operators.md"]) {
    for (const { language, text } of blocksOf(page)) {
      if (language === "sh") expect(text, page).not.toMatch(/"PASSPHRASE"|_SECRETS?=\S|twelve words/);
    }
  }
});

test("The README states the required Node.js version once, as npm start checks it.", () => {
  expect(README.match(/Node\.js/g)).toHaveLength(1);
  const [, pinned, running] =
    /Node\.js (\d+) or newer on Linux x64, (\d+\.\d+) or newer elsewhere/.exec(README) ?? [];
  expect(JSON.parse(read("package.json")).engines.node).toBe(`>=${pinned}`);
  expect(JSON.parse(read("packages/node/package.json")).engines.node).toBe(`>=${running}.0`);
  expect(read("tools/run.mjs")).toContain(`refuse("${pinned}")`);
  expect(read("tools/run.mjs")).toContain(`refuse("${running}")`);
  const others = pages.filter((page) => /Node\.js (20|22)\b/.test(read(page)));
  expect(others.sort()).toEqual(["README.md", "docs/guides/install.md", "packages/client/README.md"]);
});

test("The README fits on two screens and shows the console.", () => {
  expect(README).toMatch(/!\[[^\]]{20,}\]\(docs\/pictures\/\w+\.png\)/);
  expect(README.split("\n").length).toBeLessThan(110);
});

test("The repository's host runs .ci/run and has forms for issues and pull requests.", () => {
  expect(read(".github/workflows/check.yml")).toMatch(/^\s+- run: \.ci\/run$/m);
  for (const name of ["bug", "idea"]) {
    expect(read(`.github/ISSUE_TEMPLATE/${name}.yml`)).toMatch(/^name: .+\ndescription: .+\n(.+\n)*body:$/m);
  }
  expect(read(".github/PULL_REQUEST_TEMPLATE.md")).toContain("npm test");
  expect(read("SECURITY.md")).toContain("Report a vulnerability");
});

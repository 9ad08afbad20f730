/** The recipes of CONTRIBUTING.md, executed on a copy of the repository: each has an example as a patch beside this file. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present } from "../../packages/node/src/platform/present.ts";

const ROOT = join(import.meta.dirname, "../..");
const copy = mkdtempSync(join(tmpdir(), "uniknode-recipes-"));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const RECIPES = [
  ["Add an event", "event"],
  ["Add an endpoint", "endpoint"],
  ["Add a list filter", "list-filter"],
  ["Add an option", "option"],
  ["Add a transaction type", "transaction-type"],
] as const;
const patchOf = (name: string) => join(import.meta.dirname, `${name}.patch`);
const changedFiles = (name: string) =>
  [...readFileSync(patchOf(name), "utf8").matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path]) => present(path));

/** Copies the tracked files, and links to what is installed except to the packages themselves. */
beforeAll(() => {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" });
  for (const path of tracked.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path), { verbatimSymlinks: true });
  }
  const modules = join(copy, "node_modules");
  mkdirSync(join(modules, "@uniknode"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (!["@uniknode", "uniknode", ".cache"].includes(name))
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of ["client", "console", "ledger", "protocol"])
    symlinkSync(join(copy, "packages", name), join(modules, "@uniknode", name));
  symlinkSync(join(copy, "packages/node"), join(modules, "uniknode"));
  // Versions that differ from those of the workspace.
  symlinkSync(join(ROOT, "packages/node/node_modules"), join(copy, "packages/node/node_modules"));
});

/** Runs a program on the runtime of this process; an error shows what the program has printed. */
async function run(program: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [program, ...args], { cwd: copy }).catch((error) => {
    throw new Error(`${program} ${args.join(" ")}:\n${error.stdout}\n${error.stderr}`);
  });
}

test.each(RECIPES)("The recipe %j names the files that its example changes.", (title, name) => {
  const text = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const recipe = present(text.split(/^## /m).find((section) => section.startsWith(`${title}\n`)));
  const places = [...recipe.matchAll(/`([\w-]*[./][\w./-]*)`/g)].map(([, place]) => present(place));
  const unnamed = changedFiles(name).filter((file) => !places.some((place) => file.includes(place)));
  expect(unnamed).toEqual([]);
});

test("The examples of the recipes compile, and pass the tests that the recipes name.", async () => {
  execFileSync("git", ["apply", "--unidiff-zero", ...RECIPES.map(([, name]) => patchOf(name))], {
    cwd: copy,
  });
  await run("tools/reference.ts");
  await run("node_modules/.bin/tsc", "--project", ".");
  const tests = RECIPES.flatMap(([, name]) => changedFiles(name)).filter((path) => path.endsWith(".test.ts"));
  const shared = [
    "test/reference.test.ts",
    "packages/ledger/test/property/chain.test.ts",
    "packages/node/test/http/openapi.test.ts",
    "packages/node/test/http/transaction-types.test.ts",
  ];
  const suites = ["events", "http/client", "http/parity", "read/port"].map(
    (folder) => `packages/node/test/${folder}/`,
  );
  // The others in their folder are about code that no example changes.
  const leaves = ["growth", "leaf", "served", "audit"].map(
    (name) => `packages/node/test/facts/${name}.test.ts`,
  );
  await run("node_modules/.bin/vitest", "run", ...new Set([...tests, ...shared, ...suites, ...leaves]));
  // The vectors that list transaction types.
  await run("tools/vectors/main.ts", "test/vectors/crypto");
});

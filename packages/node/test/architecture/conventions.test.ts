/** Conventions of the sources of all packages. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));

/** Paths from the root of the repository. */
const filesBelow = (folder: string): string[] =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(REPOSITORY.length))
    .filter((path) => !/node_modules|^packages\/console\/dist\//.test(path));

/** Names that tools outside of this repository require. */
const GIVEN = [
  "README.md",
  "Containerfile",
  "Containerfile.containerignore",
  "uniknode-serve@.service",
  "uniknode-deliver@.service",
  "lintian-overrides",
];
const isKebabCase = (name: string): boolean => /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/.test(name);

test("File names are kebab-case.", () => {
  const files = ["packages", "tools", "bench", "docs", "ops", "examples"].flatMap(filesBelow);
  expect(files.length).toBeGreaterThan(900);
  expect(files.filter((path) => !isKebabCase(basename(path)) && !GIVEN.includes(basename(path)))).toEqual([]);
});

test("Camel case and underscores are not kebab-case.", () => {
  expect(["head-cache.ts", "0001-first.sql", "vitest.config.ts", ".npmrc"].filter(isKebabCase)).toHaveLength(
    4,
  );
  expect(["headCache.ts", "head_cache.ts", "Head.ts"].filter(isKebabCase)).toEqual([]);
});

const stemOf = (name: string): string => present(name.split(".")[0]);
const pluralsOf = (name: string): string[] => [`${name}s`, `${name}es`, name.replace(/y$/, "ies")];

/** Files and folders whose names are the singular and the plural of one word in the same folder. */
function pairsIn(names: readonly string[]): string[] {
  const stems = new Set(names.map(stemOf));
  return [...stems].filter((stem) => pluralsOf(stem).some((plural) => plural !== stem && stems.has(plural)));
}

test("No folder contains the singular and the plural of one name.", () => {
  const paths = ["packages", "tools", "bench", "test"].flatMap(filesBelow);
  const namesByFolder = new Map<string, Set<string>>();
  for (const path of paths) {
    const parts = path.split("/");
    for (const [index, name] of parts.entries()) {
      const folder = parts.slice(0, index).join("/");
      namesByFolder.set(folder, (namesByFolder.get(folder) ?? new Set()).add(name));
    }
  }
  const pairs = [...namesByFolder].flatMap(([folder, names]) =>
    pairsIn([...names]).map((name) => `${folder}/${name}`),
  );
  expect(namesByFolder.size).toBeGreaterThan(150);
  expect(pairs).toEqual([]);
});

test("A folder and a file can be a pair.", () => {
  expect(pairsIn(["queue.ts", "queues", "body.ts", "bodies.test.ts", "address.ts"])).toEqual([
    "queue",
    "body",
  ]);
  expect(pairsIn(["class.ts", "classes.ts", "block.ts"])).toEqual(["class"]);
});

/** Classes of errors in a text, each with its body. */
const errorClasses = (text: string): { name: string; body: string }[] =>
  [...text.matchAll(/^(?:export )?class (\w+)(?:<[^>]*>)? extends Error \{(\}|.*?^\})$/gms)].map(
    ([, name, body]) => ({
      name: present(name),
      body: present(body),
    }),
  );

test("Every error declares whether the same attempt may succeed later.", () => {
  const texts = readdirSync(join(REPOSITORY, "packages"))
    .flatMap((name) => filesBelow(`packages/${name}/src`))
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), "utf8") }));
  const errors = texts.flatMap(({ path, text }) => {
    const classes = errorClasses(text);
    expect(classes, path).toHaveLength(text.split("extends Error").length - 1);
    return classes.map(({ name, body }) => ({ name: `${path} ${name}`, body }));
  });
  // The compiler requires the member where a `CodedError` is created.
  const coded = texts.flatMap(({ text }) => text.match(/\b(?:extends|new) CodedError\b/g) ?? []);
  expect(errors.length).toBeGreaterThan(10);
  expect(errors.length + coded.length).toBeGreaterThan(55);
  expect(
    errors.filter(({ body }) => !/^ {2}readonly isRetryable\b/m.test(body)).map(({ name }) => name),
  ).toEqual([]);
});

test("Every class of errors of the node is a CodedError.", () => {
  const classes = filesBelow("packages/node/src").flatMap((path) =>
    errorClasses(readFileSync(join(REPOSITORY, path), "utf8")).map(({ name }) => name),
  );
  expect(classes).toEqual(["CodedError"]);
});

test("An error without the declaration is found, on one line and on several.", () => {
  const text = `export class A extends Error {\n  readonly code = 1;\n}\n\nclass B extends Error {}\n`;
  expect(errorClasses(text).map(({ name }) => name)).toEqual(["A", "B"]);
});

test("Libraries list their public names one by one.", () => {
  for (const name of ["protocol", "ledger", "client"]) {
    const index = readFileSync(join(REPOSITORY, `packages/${name}/src/index.ts`), "utf8");
    expect(index, name).not.toMatch(/^export \* from/m);
  }
});

test("The important names of a library are public, and the paths for contributors exist.", () => {
  for (const name of ["protocol", "ledger", "client"]) {
    const index = readFileSync(join(REPOSITORY, `packages/${name}/src/index.ts`), "utf8");
    const [, table = ""] = readFileSync(join(REPOSITORY, `packages/${name}/README.md`), "utf8").split(
      "## Five names to know",
    );
    const names = present(table.split("\n## ")[0])
      .split("\n")
      .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)]);
    expect(names.length, name).toBeGreaterThanOrEqual(5);
    for (const [, known] of names) expect(index, name).toMatch(new RegExp(`\\b${known}\\b`));
  }
  // Type of transaction that the steps invent.
  const paths = ["CONTRIBUTING.md", "docs/contributors.md"]
    .flatMap((page) => [
      ...readFileSync(join(REPOSITORY, page), "utf8").matchAll(/`((?:packages|tools|test)\/[\w/.-]+)`/g),
    ])
    .map(([, path]) => present(path))
    .filter((path) => !/statement\.ts$/.test(path));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(join(REPOSITORY, path)))).toEqual([]);
});

/** They print only their own texts, or lines that escape other texts. */
const PRINTERS = ["print.ts", "completion.ts", "init.ts", "listen/command.ts", "token.ts"];

test("Commands print through commands/print.ts, which bounds and escapes texts of others.", () => {
  const commands = "packages/node/src/commands/";
  const printing = filesBelow(commands).filter((path) =>
    /stdout\.write|console\.(log|info)/.test(readFileSync(join(REPOSITORY, path), "utf8")),
  );
  expect(printing.map((path) => path.slice(commands.length)).sort()).toEqual([...PRINTERS].sort());
});

/** The table of docs/reference/compatibility.md stands on tests: they exist, and run what the table says. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = "docs/reference";
const page = readFileSync(join(FOLDER, "compatibility.md"), "utf8");

type Row = {
  readonly name: string;
  readonly version: string;
  readonly tests: string;
  readonly cells: number;
};
const rows: Row[] = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.slice(2, -2).split(" | "))
  .map(({ 0: name = "", 1: version = "", length, ...cells }) => ({
    name,
    version,
    tests: cells[4] ?? "",
    cells: length,
  }));
const tested = rows.filter(({ tests }) => tests !== "none");
const pathsOf = ({ tests }: Row) =>
  [...tests.matchAll(/\]\(([^)]+)\)/g)].map(([, path = ""]) => join(FOLDER, path));
const namesOf = ({ name }: Row) => [...name.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);

/** Versions of packages by name, as the workspace pins them. */
const pinned: Readonly<Record<string, string>> = Object.assign(
  {},
  ...[".", "client", "console", "ledger", "node", "protocol"].map((name) => {
    const path = name === "." ? "package.json" : `packages/${name}/package.json`;
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync(path, "utf8"));
    return { ...dependencies, ...devDependencies, ...optionalDependencies };
  }),
);

/** Returns the text of a test and of the files for tests that it imports, directly or not. */
function textOf(path: string, seen = new Set<string>()): string {
  if (seen.has(path) || !/^test\/|\/test(-support)?\//.test(path)) return "";
  seen.add(path);
  const text = readFileSync(path, "utf8");
  const imports = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, other = ""]) => join(dirname(path), other));
  return [text, ...imports.map((other) => textOf(other, seen))].join("\n");
}

test("Each row names a test, or says that there is none.", () => {
  expect(rows.length).toBeGreaterThan(25);
  expect(tested.length).toBeGreaterThan(15);
  for (const row of rows) {
    expect(row.cells, row.name).toBe(5);
    expect(row.version, row.name).not.toBe("");
  }
  for (const row of tested) {
    expect(pathsOf(row), row.name).not.toEqual([]);
    for (const path of pathsOf(row)) expect([path, existsSync(path)]).toEqual([path, true]);
  }
});

test("Each named test runs the programs and packages of its row.", () => {
  for (const row of tested) {
    for (const path of pathsOf(row)) {
      const text = textOf(path).toLowerCase();
      for (const name of namesOf(row))
        expect([path, name, text.includes(name.toLowerCase())]).toEqual([path, name, true]);
    }
  }
});

test("The versions of tested packages are the installed ones.", () => {
  const packages = tested.filter(({ name }) => namesOf({ name } as Row).some((word) => word in pinned));
  expect(packages.length).toBeGreaterThan(5);
  for (const row of packages) {
    expect([row.name, row.version]).toEqual([
      row.name,
      namesOf(row)
        .map((name) => pinned[name])
        .join(", "),
    ]);
  }
});

test("The oldest runtimes are those of the packages.", () => {
  const oldest = ["client", "node"].map(
    (name) => JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")).engines.node,
  );
  const row = rows.find(({ name }) => name === "`Node.js`, the oldest");
  expect(row?.version.split(", ").map((version) => `>=${version}`)).toEqual(oldest);
});

/** Comments of the sources name only files and private members that exist. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));

/** Names in comments that are neither files of this repository nor private members. */
const OTHERS: ReadonlySet<string> = new Set([
  // Files of the description of a network, and the register of an old node, which the user provides.
  "exceptions.json",
  "network.json",
  "webhooks.json",
  // Fragment of a URL.
  "#anchor",
]);

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
/** Paths and names of files, such as `read/sqlite/pages.ts`. A name ending in `.c` needs a folder: `a.b.c` is a domain. */
const FILE =
  /(?<![\w/.@-])(?:(?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|mjs|sql|md|json|sh|css)|(?:[\w.-]+\/)+[\w.-]+\.c)\b/g;
const MEMBER = /`(#\w+)`/g;

const folderFiles = (folder: string): string[] =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => !/(^|\/)(?:node_modules|dist)\//.test(path))
    .map((path) => `${folder}/${path}`);

/**
 * Every file by its path and each suffix of it: `packages/node/src/pool/pool.ts`, `pool/pool.ts`, `pool.ts`.
 */
function knownNames(): ReadonlySet<string> {
  const folders = ["bench", "bin", "docs", "examples", "ops", "packages", "test", "tools"];
  const names = new Set(readdirSync(REPOSITORY));
  for (const path of folders.flatMap(folderFiles)) {
    const parts = path.split("/");
    for (let from = 0; from < parts.length; from++) names.add(parts.slice(from).join("/"));
  }
  return names;
}

const sources = (): string[] =>
  readdirSync(join(REPOSITORY, "packages"))
    .flatMap((name) => folderFiles(`packages/${name}/src`))
    .filter((path) => /\.tsx?$/.test(path));

const commentsOf = (text: string): string[] => [...text.matchAll(COMMENT)].map(([comment]) => comment);

const declares = (text: string, member: string): boolean =>
  new RegExp(`^\\s*(?:(?:static|readonly|async|get|set) )*\\*?${member}\\b`, "m").test(text);

function missingNames(text: string, names: ReadonlySet<string>): string[] {
  const comments = commentsOf(text);
  const files = comments.flatMap((comment) => comment.match(FILE) ?? []);
  const members = comments.flatMap((comment) =>
    [...comment.matchAll(MEMBER)].map(([, name]) => present(name)),
  );
  return [
    ...files.filter((name) => !names.has(name)),
    ...members.filter((name) => !declares(text, name)),
  ].filter((name) => !OTHERS.has(name));
}

test("Files and private members that comments name exist.", () => {
  const names = knownNames();
  const missing = sources().flatMap((path) =>
    missingNames(readFileSync(join(REPOSITORY, path), "utf8"), names).map((name) => `${path}: ${name}`),
  );
  expect(missing, "correct the name, or remove it").toEqual([]);
});

test("Missing files and members are found in comments only.", () => {
  const text = [
    "/** See `pool/gone.ts`",
    " * and pool.ts, p2p.md. */",
    'import { a } from "./unknown.ts"; // `#lost` follows `#size`.',
    "  readonly #size = 0;",
  ].join("\n");
  expect(missingNames(text, new Set(["pool.ts", "p2p.md"]))).toEqual(["pool/gone.ts", "#lost"]);
});

/** Comments and documents name only files and private members that exist. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));

/** This file, whose last test has missing names as examples. */
const OWN_PATH = "packages/node/test/architecture/comments.test.ts";

/** Names that are neither files of this repository nor private members. */
const OTHERS: ReadonlySet<string> = new Set([
  // Files of the description of a network, and the register of an old node, which the user provides.
  "exceptions.json",
  "network.json",
  "webhooks.json",
  // Placeholder, and a file that a guide creates.
  "FILE.json",
  "uniknode.d.ts",
  // The new transaction type that CONTRIBUTING.md has as an example.
  "packages/protocol/src/transactions/types/nft/nft-statement.ts",
  "packages/ledger/src/rules/nft/statement.ts",
  // Fragment of a URL.
  "#anchor",
]);

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
/** Paths and names of files, such as `pool/selection.ts`. A name ending in `.c` needs a folder: `a.b.c` is a domain. */
const FILE =
  /(?<![\w/.@-])(?:(?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|mjs|sql|md|json|sh|css)|(?:[\w.-]+\/)+[\w.-]+\.c)\b/g;
const MEMBER = /`(#\w+)`/g;
/** A file that a user of the node provides or receives; documents name many. */
const USER_FILE = /\.json$/;
const FOLDERS = ["bench", "bin", "docs", "examples", "ops", "packages", "test", "tools"];

const folderFiles = (folder: string): string[] =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => !/(^|\/)(?:node_modules|dist)\//.test(path))
    .map((path) => `${folder}/${path}`);

/**
 * Every file by its path and each suffix of it: `packages/node/src/pool/pool.ts`, `pool/pool.ts`, `pool.ts`.
 */
function knownNames(): ReadonlySet<string> {
  const names = new Set(readdirSync(REPOSITORY));
  for (const path of FOLDERS.flatMap(folderFiles)) {
    const parts = path.split("/");
    for (let from = 0; from < parts.length; from++) names.add(parts.slice(from).join("/"));
  }
  return names;
}

/** Sources, styles and documents, without recorded vectors and released migrations, whose text is fixed. */
const paths = (): string[] =>
  FOLDERS.flatMap(folderFiles)
    .concat("README.md", "CONTRIBUTING.md", "SECURITY.md")
    .filter((path) => /\.(?:tsx?|m?js|css|sql|sh|c|md)$/.test(path) && path !== OWN_PATH)
    .filter((path) => !/^test\/vectors\/|\/migrations\//.test(path));

const commentsOf = (text: string): string[] => [...text.matchAll(COMMENT)].map(([comment]) => comment);

const declares = (text: string, member: string): boolean =>
  new RegExp(`^\\s*(?:(?:static|readonly|async|get|set) )*\\*?${member}\\b`, "m").test(text);

function missingNames(text: string, names: ReadonlySet<string>): string[] {
  const comments = commentsOf(text);
  const members = comments.flatMap((comment) =>
    [...comment.matchAll(MEMBER)].map(([, name]) => present(name)),
  );
  return [
    ...missingFiles(comments.join("\n"), names),
    ...members.filter((name) => !declares(text, name) && !OTHERS.has(name)),
  ];
}

/** Links of documents are relative: `../spec/p2p.md` is `spec/p2p.md`. */
const missingFiles = (text: string, names: ReadonlySet<string>): string[] =>
  (text.match(FILE) ?? [])
    .map((name) => name.replace(/^(?:\.\.\/)+/, ""))
    .filter((name) => !names.has(name) && !OTHERS.has(name));

function missingIn(path: string, names: ReadonlySet<string>): string[] {
  const text = readFileSync(join(REPOSITORY, path), "utf8");
  if (!path.endsWith(".md")) return missingNames(text, names);
  return missingFiles(text, names).filter((name) => !USER_FILE.test(name));
}

test("Files and private members that comments and documents name exist.", () => {
  const names = knownNames();
  const missing = paths().flatMap((path) => missingIn(path, names).map((name) => `${path}: ${name}`));
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

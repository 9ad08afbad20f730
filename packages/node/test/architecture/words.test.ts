/** The words that docs/reference/glossary.md retires, in sources, tests and documents. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";

const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));
const GLOSSARY = "docs/reference/glossary.md";
/** This file, which has retired words as examples. */
const OWN_PATH = "packages/node/test/architecture/words.test.ts";

/** Words that a room may still have: a number only ever gets smaller, and a room without a number has none. */
const ALLOWED: Readonly<Record<string, number>> = {
  // Members of recorded vectors.
  tools: 3,
  // Former names of exported types and members.
  ".changeset": 6,
  // Tests, until their sentences are rewritten.
  "packages/node/test-support/guides": 12,
  "packages/node/test-support/http": 19,
  "packages/node/test-support/parity": 27,
  "packages/node/test-support/platform": 7,
  "packages/node/test-support/pool": 1,
  "packages/node/test-support/process": 3,
  "packages/node/test-support/stream": 4,
  "packages/node/test-support/webhooks": 17,
  "packages/node/test/architecture": 1,
  "packages/node/test/archive": 1,
  "packages/node/test/chain": 2,
  "packages/node/test/clients": 16,
  "packages/node/test/commands": 9,
  "packages/node/test/dev-chain": 7,
  "packages/node/test/facts": 1,
  "packages/node/test/forger": 1,
  "packages/node/test/guides": 6,
  "packages/node/test/http": 25,
  "packages/node/test/operations": 2,
  "packages/node/test/peers": 90,
  "packages/node/test/platform": 20,
  "packages/node/test/pool": 10,
  "packages/node/test/process": 54,
  "packages/node/test/processes": 12,
  "packages/node/test/read": 1,
  "packages/node/test/stream": 2,
  "packages/node/test/submission": 1,
  "packages/node/test/verification": 1,
  "packages/node/test/webhooks": 96,
  test: 5,
};

/** `takeBack`, `take-back` and `TAKE_BACK` are "take back"; so is what a comment breaks between two lines. */
const plainText = (text: string): string =>
  text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[\s_*/-]+/g, " ")
    .toLowerCase();

function retiredWords(): RegExp {
  const [, table = ""] = readFileSync(join(REPOSITORY, GLOSSARY), "utf8").split("## Retired words");
  const words = table
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) =>
      [...present(line.split("|")[1]).matchAll(/`([a-z ]+)`/g)].map(([, word]) => present(word)),
    );
  return new RegExp(`\\b(?:${words.join("|")})\\b`, "g");
}

const RETIRED = retiredWords();
const retiredIn = (text: string): string[] => plainText(text).match(RETIRED) ?? [];

/** `packages/node/src/peers`, `packages/node/test/http`, `packages/client/src`, `docs/guides`, `bench`, `README.md`. */
const roomOf = (path: string): string =>
  present(
    /^(packages\/node\/(?:src|test|test-support)\/[^/]+|packages\/[^/]+\/[^/]+|docs\/[^/]+(?=\/)|[^/]+)/.exec(
      path,
    ),
  )[0];

const EXTENSION =
  /\.(?:tsx?|m?js|css|c|sh|sql|md|html|json|ya?ml|service|env|py|php|rb|go)$|^\.ci\/run$|^ops\/debian\/|Containerfile$/;
/** Recorded responses and generated or fixed texts. */
const SKIPPED =
  /node_modules|\/dist\/|^test\/vectors\/|^packages\/\w+\/(?:test|test-support)\/.*\.(?:md|html|json)$|^docs\/pictures\//;
const FOLDERS = [
  "packages",
  "docs",
  "examples",
  "bench",
  "test",
  "tools",
  "bin",
  "ops",
  ".ci",
  ".github",
  ".changeset",
];
const FILES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "vitest.config.ts"];

const sources = (): string[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" }).map(
      (path) => `${folder}/${path}`,
    ),
  )
    .filter((path) => EXTENSION.test(path) && !SKIPPED.test(path))
    .filter((path) => path !== GLOSSARY && path !== OWN_PATH)
    .concat(FILES);

test("The glossary's retired words do not come back.", () => {
  const counts = new Map<string, number>();
  const found: string[] = [];
  for (const path of sources()) {
    const words = retiredIn(readFileSync(join(REPOSITORY, path), "utf8"));
    if (words.length === 0) continue;
    counts.set(roomOf(path), (counts.get(roomOf(path)) ?? 0) + words.length);
    found.push(`${path}: ${[...new Set(words)].join(", ")}`);
  }
  const beyond = [...counts].filter(([room, count]) => count > (ALLOWED[room] ?? 0));
  const places = found.filter((line) => beyond.some(([room]) => line.startsWith(room)));
  expect(
    beyond.map(([room, count]) => `${room}: ${count}, allowed ${ALLOWED[room] ?? 0}`),
    `say it in the words of ${GLOSSARY}:\n${places.join("\n")}`,
  ).toEqual([]);
});

test("Retired words are found in names, in sentences and across lines, and not within other words.", () => {
  expect(retiredIn("const isTold = takeBack(HEARS_OF)")).toEqual(["told", "take back", "hears"]);
  expect(retiredIn("/** What was taken\n * back. */")).toEqual(["taken back"]);
  expect(retiredIn("shear, doorway, indoors, a heart; untold")).toEqual([]);
});

/** Tests and their support: HTTP has responses, peers reply, functions have results, checks verdicts. */
const TEST_SOURCE = /^packages\/\w+\/test(?:-support)?\/|^test\//;
const AMBIGUOUS = /\b(?:answers?|answered|answering|tells?|telling)\b/g;
/** Names and a code of the API, and a message of the client, of which the tests have copies. */
const PUBLISHED =
  /\banswer: "|\banswered: \d|answer="\$\{|\bno answer(?="|:| within \d+ ms)|"answer"|\bAPI_ANSWER_INVALID\b/g;

const ambiguousIn = (text: string): string[] => plainText(text.replace(PUBLISHED, "")).match(AMBIGUOUS) ?? [];

test('Tests use "response", "reply", "result", "verdict" or "outcome" instead of "answer".', () => {
  const found = sources()
    .filter((path) => TEST_SOURCE.test(path))
    .map((path) => ({ path, words: ambiguousIn(readFileSync(join(REPOSITORY, path), "utf8")) }))
    .filter(({ words }) => words.length > 0);
  expect(
    found.map(({ path, words }) => `${path}: ${[...new Set(words)].join(", ")}`),
    `say it in the words of ${GLOSSARY}`,
  ).toEqual([]);
});

test("Ambiguous words are found in names and sentences, and not in published names.", () => {
  expect(ambiguousIn("const lastAnswer = answersTo(request)")).toEqual(["answer", "answers"]);
  expect(ambiguousIn("// The node tells\n// what it answered.")).toEqual(["tells", "answered"]);
  expect(ambiguousIn('{ status: 500, answer: "no" }, "no answer", "no answer within 5 ms"')).toEqual([]);
});

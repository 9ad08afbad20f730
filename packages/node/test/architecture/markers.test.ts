/** Syntax that marks a sentence as hard to read, counted in comments and texts of sources, and in documents. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Names the markers. */
const GLOSSARY = "docs/reference/glossary.md";
const REPOSITORY = fileURLToPath(new URL("../../../..", import.meta.url));
const WORST_FILES = 20;

type Marker =
  | 'docstring starts with "Of"'
  | "docstring starts with a question word"
  | "docstring is a prepositional phrase"
  | '"is no X"'
  | '"those that"'
  | '"any more"'
  | '"behind" for "after"';

/** Upper bounds. They only ever decrease. A bound of 0 lists the worst files. */
const BOUNDS: Readonly<Record<Marker, number>> = {
  'docstring starts with "Of"': 0,
  "docstring starts with a question word": 0,
  "docstring is a prepositional phrase": 3,
  '"is no X"': 3,
  '"those that"': 4,
  '"any more"': 0,
  '"behind" for "after"': 6,
};

const PREPOSITIONS =
  "About|Above|Across|After|Along|Among|Around|At|Before|Behind|Below|Beside|Between|Beyond|By|During|For|From|In|Into|On|Over|Per|Since|Through|To|Towards|Under|Until|With|Within|Without";

/** First sentence that begins with a preposition; the group is what follows its first comma, semicolon or colon. */
const PHRASE = new RegExp(`^(?:${PREPOSITIONS})\\b[^,;:]*?(?:[,;:]\\s(.*?))?(?:\\.(?=\\s|$)|$)`);
/** A clause after an introductory phrase, as in "Beyond `maxBytes`, closes connections". */
const CLAUSE =
  /^[a-z]+s\b|\b(?:is|are|was|were|has|have|had|can|cannot|must|may|do|does|did|gets?|needs?|follows?|takes?|keeps?|allows?)\b/;

const isBarePhrase = (doc: string): boolean => {
  const match = PHRASE.exec(doc);
  return match !== null && !CLAUSE.test(match[1] ?? "");
};

/** "behind" in its own meaning: behind a proxy or a token, and what lags. */
const PLACE = [
  "behind (?:a |an |the |its |their )?(?:reverse |webhook |same |one )?(?:prox|nat\\b|firewall|tls|token|load balancer|network|chain|address|cache)",
  "behind (?:`?backend\\.ts|the connection|a connection|a bounded|a network|the slot|ahead)",
  'behind(?=: |"|<)',
  "(?:blocks?|fall|falls|fallen|far|further|lags?|leave|leaves|left|is|are|be|was|node|clock|ahead of it nor|none) behind",
  "(?:leave|leaves|leaving) (?:\\S+ ){1,4}behind",
];
const NOT_PLACE = new RegExp(`\\b(?:${PLACE.join("|")})`, "gi");

const MATCHES: Readonly<Record<Marker, (text: string, docstrings: readonly string[]) => number>> = {
  'docstring starts with "Of"': (_, docstrings) => docstrings.filter((doc) => /^Of\b/.test(doc)).length,
  "docstring starts with a question word": (_, docstrings) =>
    docstrings.filter((doc) =>
      /^(?:As|How|Once|That|What|When|Where|Whether|Which|Who|Whom|Whose)\b/.test(doc),
    ).length,
  "docstring is a prepositional phrase": (_, docstrings) => docstrings.filter(isBarePhrase).length,
  '"is no X"': (text) =>
    count(text, /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|other\b|more than\b)[a-z]/gi),
  '"those that"': (text) => count(text, /\bthose that\b/gi),
  '"any more"': (text) => count(text, /\bany ?more\b/gi),
  '"behind" for "after"': (text) => count(text.replace(NOT_PLACE, ""), /\bbehind\b/gi),
};

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** The text of a comment as one line, without its marks. */
const toLine = (comment: string): string =>
  comment
    .replace(/^\/\*+|\*\/$/g, "")
    .replace(/^[ \t]*(?:\*|\/\/|--)/gm, "")
    .replace(/\s+/g, " ")
    .trim();

/** Docstrings, and the block comments of styles. */
const docstringsIn = (source: string): string[] =>
  [...source.matchAll(/\/\*[*\s][\s\S]*?\*\//g)].map(([comment]) => toLine(comment));

/** Line comments of TypeScript and SQL; consecutive ones are joined. */
const lineCommentsIn = (source: string): string[] =>
  [...source.matchAll(/(?:^|(?<=\s))(?:\/\/|--) [^\n]*(?:\n[ \t]*(?:\/\/|--) [^\n]*)*/g)].map(([comment]) =>
    toLine(comment),
  );

const WITHOUT_COMMENTS = /\/\*[\s\S]*?\*\/|(?:^|(?<=\s))\/\/ [^\n]*/g;
/** Texts of at least two words between quotation marks. */
const textsIn = (source: string): string[] =>
  (
    source
      .replace(WITHOUT_COMMENTS, "")
      .match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=>)[^<>{}]*[a-z] [a-z][^<>{}]*(?=[<{])/g) ?? []
  ).filter((text) => text.includes(" "));

/** The comments of a source, one a line: docstrings, then line comments. */
const commentsIn = (source: string): string =>
  [...docstringsIn(source), ...lineCommentsIn(source)].join("\n");

/** The sentences of a source, one a line: comments, then texts, except in styles and SQL. */
const sentencesIn = (path: string, source: string): string =>
  [commentsIn(source), ...(/\.(?:css|sql)$/.test(path) ? [] : textsIn(source))].join("\n");

const markersIn = (path: string, content: string): Record<Marker, number> => {
  const isDocument = path.endsWith(".md");
  const text = isDocument ? content.replace(/\s+/g, " ") : sentencesIn(path, content);
  const docstrings = isDocument ? [] : docstringsIn(content);
  return Object.fromEntries(
    Object.entries(MATCHES).map(([marker, match]) => [marker, match(text, docstrings)]),
  ) as Record<Marker, number>;
};

const paths = (): string[] =>
  ["packages", "docs", "bench", "tools"]
    .flatMap((folder) =>
      readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((path) => path !== GLOSSARY)
    .filter((path) =>
      /^packages\/\w+\/src\/.*\.(tsx?|css|sql)$|^packages\/console\/documents\/|^packages\/node\/templates\/.*\.js$|^(bench|tools)\/.*\.(ts|mjs)$|^docs\/.*\.md$/.test(
        path,
      ),
    );

const counts = paths().map((path) => ({
  path,
  markers: markersIn(path, readFileSync(join(REPOSITORY, path), "utf8")),
}));

/** Fails with the worst files if the counts of a marker exceed its bound. */
function expectAtMost<M extends string>(
  counts: readonly { readonly path: string; readonly markers: Readonly<Record<M, number>> }[],
  marker: M,
  bound: number,
): void {
  const files = counts
    .map(({ path, markers }) => ({ path, found: markers[marker] }))
    .filter(({ found }) => found > 0)
    .sort((a, b) => b.found - a.found);
  const worst = files.slice(0, WORST_FILES).map(({ path, found }) => `${found} ${path}`);
  expect(
    files.reduce((sum, { found }) => sum + found, 0),
    `${marker}, in ${files.length} files, the worst first:\n${worst.join("\n")}\nreceived, allowed`,
  ).toBeLessThanOrEqual(bound);
}

test.each(Object.entries(BOUNDS) as [Marker, number][])("%s: at most %i.", (marker, bound) =>
  expectAtMost(counts, marker, bound),
);

test("Markers are found in comments and texts, across lines, and not where the word has its own meaning.", () => {
  const found = (source: string) =>
    Object.entries(markersIn("a.ts", source)).flatMap(([marker, number]) => (number > 0 ? [marker] : []));
  expect(found("/** Of each value the index. */")).toEqual(['docstring starts with "Of"']);
  expect(found("/** By id or height. */")).toEqual(["docstring is a prepositional phrase"]);
  expect(found("/** Beyond `maxBytes`, closes connections. */")).toEqual([]);
  expect(found("/** It is no\n * number. */")).toEqual(['"is no X"']);
  expect(found("// There is no number, and it is no longer\n// there.")).toEqual([]);
  expect(found("/** Returns those\n * that match. */")).toEqual(['"those that"']);
  expect(found("// Not there any more.")).toEqual(['"any more"']);
  expect(found("// The bytes behind the header.")).toEqual(['"behind" for "after"']);
  expect(found("// Runs behind a proxy, far behind the chain, and leaves nothing behind.")).toEqual([]);
  expect(found("/** What is kept. */\n/** How it is kept. */")).toEqual([
    "docstring starts with a question word",
  ]);
  expect(found("/* Those that match */")).toEqual(['"those that"']);
  expect(found('const text = "those that";')).toEqual(['"those that"']);
  expect(found("const thoseThat = 1;")).toEqual([]);
});

type TestMarker = Marker | "docstring starts with a question word";

/** Upper bounds for tests and their support, whose titles count as comments. They only ever decrease. */
const TEST_BOUNDS: Readonly<Record<TestMarker, number>> = {
  // Examples of test/citations.test.ts and words.test.ts.
  'docstring starts with "Of"': 1,
  "docstring starts with a question word": 1,
  "docstring is a prepositional phrase": 6,
  '"is no X"': 3,
  '"those that"': 8,
  '"any more"': 0,
  '"behind" for "after"': 5,
};

const TEST_MATCHES: Readonly<Record<TestMarker, (text: string, docstrings: readonly string[]) => number>> = {
  ...MATCHES,
  "docstring starts with a question word": (_, docstrings) =>
    docstrings.filter((doc) =>
      /^(?:As|How|Once|That|What|When|Where|Whether|Which|Who|Whom|Whose)\b/.test(doc),
    ).length,
};

/** The titles of tests and of groups of tests, one a line. */
const titlesIn = (source: string): string =>
  [
    ...source.matchAll(
      /(?:\b(?:test|describe)(?:\.(?:concurrent|skipIf\([^()]*\)))*|\]\)|\b(?:each|for)\([^()]*(?:\([^()]*\))*\))\(\s*(["'`])(.*?)\1/g,
    ),
  ]
    .map(([, , title]) => title)
    .join("\n");

const testMarkersIn = (source: string): Record<TestMarker, number> => {
  const docstrings = docstringsIn(source);
  const text = `${commentsIn(source)}\n${titlesIn(source)}`;
  return Object.fromEntries(
    Object.entries(TEST_MATCHES).map(([marker, match]) => [marker, match(text, docstrings)]),
  ) as Record<TestMarker, number>;
};

const testPaths = (): string[] =>
  ["packages", "test"]
    .flatMap((folder) =>
      readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" }).map(
        (path) => `${folder}/${path}`,
      ),
    )
    .filter((path) => /^(?:packages\/\w+\/test(?:-support)?|test)\/.*\.(?:tsx?|mjs)$/.test(path))
    // This file, whose examples are markers.
    .filter((path) => path !== "packages/node/test/architecture/markers.test.ts");

const testCounts = testPaths().map((path) => ({
  path,
  markers: testMarkersIn(readFileSync(join(REPOSITORY, path), "utf8")),
}));

test.each(Object.entries(TEST_BOUNDS) as [TestMarker, number][])(
  "In tests, %s: at most %i.",
  (marker, bound) => expectAtMost(testCounts, marker, bound),
);

test("Titles of tests and of groups are searched, and no other texts.", () => {
  const found = (source: string) =>
    Object.entries(testMarkersIn(source)).flatMap(([marker, number]) => (number > 0 ? [marker] : []));
  expect(found("/** What is read. */")).toEqual(["docstring starts with a question word"]);
  expect(found('test("a text is no number", () => {});')).toEqual(['"is no X"']);
  expect(found('describe.concurrent("those that match", () => {});')).toEqual(['"those that"']);
  expect(found('test.each([\n  ["a"],\n])("%s is not there any more", () => {});')).toEqual(['"any more"']);
  expect(found('test.each(Object.keys(LISTS))("%s is no list", () => {});')).toEqual(['"is no X"']);
  expect(found('const text = "is no number";')).toEqual([]);
});

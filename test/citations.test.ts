/** Documents and sections that sources and documents cite exist. */
import { expect, test } from "vitest";
import { findCitationFaults } from "../tools/citations/citations.ts";
import { readRepository } from "../tools/citations/repository.ts";

/** Built files, and texts that name fictitious documents. */
const excluded = ["release", "test/citations.test.ts", "test/release/changes.test.ts"];

test("Every document, section and link that the repository cites exists.", () => {
  expect(findCitationFaults(readRepository(".", excluded))).toEqual([]);
});

test("No text has the marks of an unfinished merge.", () => {
  const { texts } = readRepository(".", excluded);
  const marked = [...texts].flatMap(([path, text]) => (/^[<>]{7} /m.test(text) ? [path] : []));
  expect(marked).toEqual([]);
});

const rules = `# Rules

## 1. Blocks

1. First.
2. Second.

### 1.1 The way in, and out

| # | fault |
|---|---|
| A1 | one |

## 2. Trains
`;
const texts = {
  "docs/spec/rules.md": rules,
  "docs/spec/traps.md": "| A6 | trap |",
  "docs/guides/start.md": "# Start\n\n## First `steps`\n",
  "docs/decisions/0004-keep.md": "# 4. Keep",
};

/** Errors of one file among the documents above; `~` stands for the end of a document's name. */
const faultsIn = (path: string, text: string) => {
  const written = text.replaceAll("~", ".md");
  return findCitationFaults({
    texts: new Map(Object.entries({ ...texts, [path]: written })),
    exists: (requested) => requested === "docs/picture.png",
  });
};

test.each([
  "/** Blocks (rules~ 1.1). */",
  "/** Blocks (rules~ 1, 1.1 and 2; rules~ 1 to 2). */",
  "/** Blocks (rules~ 1 point 2), trains (rules~ 1 points 1 and 2, rules~ A1). */",
  "/**\n * A citation that a line breaks (rules~\n * 1.1).\n */",
  "/** A guide (docs/guides/start~), by its name alone (start~), a decision (decision 4), a trap (trap A6b, traps~ A6b). */",
  "/** Of another world: RFC 9110 section 10.2.3. */",
  "const version = call(1.5);",
])("A source with %j is valid.", (text) => {
  expect(faultsIn("packages/a/src/a.ts", text)).toEqual([]);
});

test.each([
  ["/** Blocks (rule~ 1). */", "no document rule~"],
  ["/** Blocks (architecture~). */", "no document architecture~"],
  ["/** Blocks (rules~ 1.2). */", "no section 1.2 in docs/spec/rules~"],
  ["/** Blocks (rules~ 1 and 3). */", "no section 3 in docs/spec/rules~"],
  ["/** Blocks (rules~\n * 3). */", "no section 3 in docs/spec/rules~"],
  ["/** Blocks (rules~ 1 point 3). */", "no number 3 of section 1 in docs/spec/rules~"],
  ["/** Blocks (rules~ A2). */", "no A2 in docs/spec/rules~"],
  ["/** Blocks (rules~ section 1). */", 'write "rules~ 1"'],
  ["/** Blocks (rules~, 1). */", 'write "rules~ 1"'],
  ["/** Blocks (section 1). */", '"section 1" names no document'],
  ["/** Blocks (1.1). */", '"(1.1)" names no document'],
  ["// Blocks (1.1).", '"(1.1)" names no document'],
  ["/** The layout of 1.1. */", '"layout of 1.1" names no document'],
  ["/** A decision (decision 5). */", '"decision 5" is not in docs/decisions'],
  ["/** A trap (trap B1). */", '"trap B1" is not in docs/spec/traps~'],
])("A source with %j is invalid.", (text, what) => {
  expect(faultsIn("packages/a/src/a.ts", `\n${text}`)).toEqual([
    `packages/a/src/a.ts:2: ${what.replaceAll("~", ".md")}`,
  ]);
});

test.each([
  [
    "[rules](../spec/rules~#11-the-way-in-and-out), [steps](start~#first-steps), [picture](../picture.png)",
    [],
  ],
  ["[elsewhere](https://example.org/rules~)", []],
  ["`rules~` section 1.1", []],
  ["[rules](rules~)", ["no file docs/guides/rules~"]],
  ["[picture](picture.png)", ["no file docs/guides/picture.png"]],
  ["[rules](../spec/rules~#blocks)", ["no heading #blocks in docs/spec/rules~"]],
  ["[above](#nothing)", ["no heading #nothing in docs/guides/new~"]],
  ["`rules~` section 4", ["no section 4 in docs/spec/rules~"]],
  ["See section 4.", ['"section 4" names no document']],
])("A guide with %j has the errors %j.", (text, faults) => {
  expect(faultsIn("docs/guides/new.md", text.replaceAll("~", ".md"))).toEqual(
    faults.map((what) => `docs/guides/new.md:1: ${what.replaceAll("~", ".md")}`),
  );
});

test("A document of the specification can cite its own sections, which must exist.", () => {
  expect(faultsIn("docs/spec/new.md", "# New\n\n## 1. One\n\nSee section 1 and\nsection 2.")).toEqual([
    'docs/spec/new.md:6: "section 2" is not in docs/spec/new.md',
  ]);
});

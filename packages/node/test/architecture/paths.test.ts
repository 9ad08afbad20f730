/** The paths of `docs/architecture.md` consist of functions that exist, and are short. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";

const NODE = join(import.meta.dirname, "../..");
const MAX_FILES = 10;

type Step = { readonly file: string; readonly functions: readonly string[] };

/** The rows of the tables below "Four paths", by the title of the table. */
function pathsOf(document: string): Map<string, Step[]> {
  const [, section = ""] = document.split("## Four paths\n");
  const parts = present(section.split(/^## /m)[0]).split(/^### /m).slice(1);
  return new Map(
    parts.map((part) => {
      const rows = part.matchAll(/^\| `([^`]+\.ts)` \| ([^|]+) \|/gm);
      const steps = Array.from(rows, ([, file, names]) => ({
        file: present(file),
        functions: Array.from(present(names).matchAll(/`(\w+)`/g), ([, name]) => present(name)),
      }));
      return [present(part.split("\n")[0]), steps];
    }),
  );
}

/** Returns true if a source defines a function or a method of this name, or imports it to call it. */
const has = (source: string, name: string): boolean =>
  new RegExp(`function\\*? ${name}\\b|\\b${name}(?: =|:)? ?(?:async )?\\(|\\b${name}: `).test(source);

const paths = pathsOf(readFileSync(join(NODE, "../../docs/architecture.md"), "utf8"));

test("There are four paths.", () => {
  expect([...paths.keys()]).toEqual(["A block", "A transaction", "A page", "A webhook delivery"]);
});

test.each([...paths])("%s passes through functions that exist, in at most ten files.", (_, steps) => {
  expect(steps.length).toBeGreaterThan(5);
  expect(new Set(steps.map(({ file }) => file)).size).toBeLessThanOrEqual(MAX_FILES);
  const missing = steps.flatMap(({ file, functions }) => {
    expect(functions, file).not.toEqual([]);
    const source = readFileSync(join(NODE, "src", file), "utf8");
    return functions.filter((name) => !has(source, name)).map((name) => `${file}: ${name}`);
  });
  expect(missing).toEqual([]);
});

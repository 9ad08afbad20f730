/** Documents of this repository in the console. */
import { join } from "node:path";
import { present } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { linksOf, readLibrary } from "../../documents/library.ts";
import { find } from "../../src/screens/docs/search.ts";

const FOLDER = join(import.meta.dirname, "../../../../docs");
const ROOT = "/console/docs";

const { documents, contents, search } = readLibrary(FOLDER);

const anchorsOf = (path: string): Set<string> | undefined => {
  const document = documents.get(path);
  if (!document) return undefined;
  const headings = document.blocks.flatMap((block) => (block.kind === "heading" ? [block.anchor] : []));
  return new Set([document.anchor, ...headings]);
};

describe("Links", () => {
  test.each([...documents.keys()])("Links of “%s” lead to existing documents and sections.", (path) => {
    const { blocks } = present(documents.get(path));
    const dead = linksOf(blocks).filter((href) => {
      if (/^https?:/.test(href)) return false;
      const [target = "", anchor] = href.split("#");
      const anchors = anchorsOf(target === "" ? path : target.slice(ROOT.length + 1));
      return !anchors || (anchor !== undefined && !anchors.has(anchor));
    });
    expect(dead).toEqual([]);
  });
});

describe("The contents", () => {
  const listed = contents.flatMap(({ documents }) => documents.map(({ path }) => path));

  test("The contents list every document once.", () => {
    expect(new Set(listed).size).toBe(listed.length);
    // A folder without its own page has its list.
    expect([...documents.keys()].filter((path) => !listed.includes(path))).toEqual([
      "guides",
      "reference",
      "decisions",
    ]);
  });

  test("The contents keep the reading order of the pages that link to the documents.", () => {
    const groups = Object.fromEntries(
      contents.map(({ title, documents }) => [title, documents.map(({ path }) => path)]),
    );
    expect(groups.Start?.slice(0, 2)).toEqual(["", "app-developers"]);
    expect(groups.Guides?.slice(0, 2)).toEqual(["guides/install", "guides/first-event"]);
    expect(groups.Specification?.slice(0, 3)).toEqual(["spec", "spec/interface", "spec/networks"]);
    expect(groups.Decisions?.[0]).toMatch(/^decisions\/0001-/);
  });
});

describe("The search", () => {
  test("The search finds a section by words of its text, and links to it.", () => {
    const { found, total } = find(search, "Conditions count steps");
    expect(total).toBeGreaterThan(0);
    for (const { href } of found) {
      const [path = "", anchor] = href.split("#");
      const anchors = anchorsOf(path.slice(ROOT.length + 1));
      expect(anchors).toBeDefined();
      if (anchor !== undefined) expect(anchors).toContain(anchor);
    }
  });

  test("The search finds the chapter of a document before passages that mention it.", () => {
    const [first] = find(search, "rotate the secret").found;
    expect(first).toMatchObject({ href: `${ROOT}/guides/webhooks#rotate-the-secret`, document: "Webhooks" });
  });
});

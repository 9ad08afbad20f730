import { describe, expect, test } from "vitest";
import { addressOf, resolveLink } from "../../documents/links.ts";
import { parse } from "../../documents/parse.ts";

const tree = (markdown: string) => parse(markdown, (href) => (href.startsWith("x") ? undefined : href));
const inlines = (markdown: string) => {
  const [block] = tree(markdown);
  return block?.kind === "paragraph" ? block.children : undefined;
};

describe("A document", () => {
  test("A document is parsed into its blocks.", () => {
    const markdown =
      "# A `b`\n\ntext\n\n2. one\n\n   ```sh\n   ls\n   ```\n\n| a | b |\n|---|---|\n| 1 | `x\\|y` |\n\n> c\n\n---\n";
    expect(tree(markdown)).toEqual([
      { kind: "heading", level: 1, anchor: "a-b", children: ["A ", { kind: "code", text: "b" }] },
      { kind: "paragraph", children: ["text"] },
      {
        kind: "list",
        start: 2,
        items: [
          [
            { kind: "paragraph", children: ["one"] },
            { kind: "code", number: 1, text: "ls" },
          ],
        ],
      },
      {
        kind: "table",
        number: 1,
        head: [["a"], ["b"]],
        rows: [[["1"], [{ kind: "code", text: "x|y" }]]],
      },
      { kind: "quote", blocks: [{ kind: "paragraph", children: ["c"] }] },
      { kind: "rule" },
    ]);
  });

  test("A document keeps characters that HTML would escape.", () => {
    expect(inlines("a < b & `c < d` &amp; \\<e>")).toEqual([
      "a < b & ",
      { kind: "code", text: "c < d" },
      " & <e>",
    ]);
  });

  test("A document has no comments, and markup of HTML as a text.", () => {
    expect(tree("<!-- not run: why -->\n\n<b>x</b>\n\n<script>y</script>")).toEqual([
      { kind: "paragraph", children: ["<b>x</b>"] },
      { kind: "paragraph", children: ["<script>y</script>"] },
    ]);
  });

  test("A document loses links to pages outside of the console, and keeps their texts.", () => {
    expect(inlines("see [the file](x.json), **[there](#y)**")).toEqual([
      "see the file, ",
      { kind: "strong", children: [{ kind: "link", href: "#y", children: ["there"] }] },
    ]);
  });

  test("A document gives each heading a unique name.", () => {
    expect(
      tree("## 6.3 A, b/c\n## 6.3 A, b/c").map((block) => block.kind === "heading" && block.anchor),
    ).toEqual(["63-a-bc", "63-a-bc-1"]);
  });

  test("A document with a picture has its alternative text.", () => {
    expect(tree("![the overview](b.png)")).toEqual([{ kind: "paragraph", children: ["the overview"] }]);
  });
});

test.each([
  ["guides/api.md", "install.md", "/console/docs/guides/install"],
  ["guides/api.md", "../spec/p2p.md#63-x", "/console/docs/spec/p2p#63-x"],
  ["guides/api.md", "../spec/README.md", "/console/docs/spec"],
  ["README.md", "decisions", "/console/docs/decisions"],
  ["guides/api.md", "../README.md", "/console/docs"],
  ["guides/api.md", "#b", "#b"],
  ["guides/api.md", "https://a.example/", "https://a.example/"],
  ["guides/api.md", "../../README.md", undefined],
  ["guides/api.md", "../../ops/b.json", undefined],
  ["guides/api.md", "javascript:alert(1)", undefined],
  ["guides/api.md", "data:text/html,x", undefined],
])("In %s, the address of %s is %s.", (file, href, address) => {
  expect(resolveLink(file, href)).toBe(address);
});

test("The README of a folder is at the address of the folder.", () => {
  expect(["README.md", "spec/README.md", "spec/p2p.md"].map(addressOf)).toEqual(["", "spec", "spec/p2p"]);
});

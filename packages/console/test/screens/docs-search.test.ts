import { describe, expect, test } from "vitest";
import { excerptOf, find, wordsOf } from "../../src/screens/docs/search.ts";

const data = [
  {
    path: "guides/a",
    title: "Webhooks",
    sections: [
      { heading: "", anchor: "", text: "A receiver gets events." },
      { heading: "Retry", anchor: "retry", text: "A delivery is tried again." },
      { heading: "Other", anchor: "other", text: "Nothing of it." },
    ],
  },
  {
    path: "",
    title: "Start",
    sections: [{ heading: "", anchor: "", text: "Retry a delivery (or not) [1]." }],
  },
];
const hrefs = (query: string) => find(data, query).found.map(({ href }) => href);

describe("A search", () => {
  test.each([
    ["retry", ["/console/docs/guides/a#retry", "/console/docs"]],
    ["RETRY   deliv", ["/console/docs/guides/a#retry", "/console/docs"]],
    ["delivery webhooks", ["/console/docs/guides/a#retry"]],
    ["receiver missing", []],
    ["webhooks", ["/console/docs/guides/a"]],
    ["", []],
    ["(or not) [1].", ["/console/docs"]],
  ])("A search for “%s” finds %j.", (query, expected) => {
    expect(hrefs(query)).toEqual(expected);
  });

  test("A search reads at most eight words.", () => {
    expect(wordsOf("a b c d e f g h i A b")).toEqual(["a", "b", "c", "d", "e", "f", "g", "h"]);
  });
});

describe("An excerpt", () => {
  test("An excerpt is divided at the searched words.", () => {
    expect(excerptOf("One (two) three", ["(two)", "three"])).toEqual(["One ", "(two)", " ", "three", ""]);
  });

  test("An excerpt of a long text starts shortly before the first of them.", () => {
    const text = `${"before ".repeat(100)}needle ${"behind ".repeat(100)}`.trim();
    const excerpt = excerptOf(text, ["needle"]);
    expect(excerpt[0]).toMatch(/^… before/);
    expect(excerpt[1]).toBe("needle");
    expect(excerpt[2]).toMatch(/behind …$/);
    expect(excerpt.join("").length).toBeLessThan(240);
  });
});

import { expect, test } from "vitest";
import { mostSimilar, similarNames } from "../../../src/platform/text/wording.ts";

const NAMES = ["blockTime", "httpPort", "httpHost", "data"];

test.each<[name: string, meant: string | undefined]>([
  ["blokTime", "blockTime"],
  ["blocktime", "blockTime"],
  ["htpPort", "httpPort"],
  ["dtaa", "data"],
  ["moonPhase", undefined],
  ["", undefined],
  ["x".repeat(100_000), undefined],
])("The suggestion for %j is: %s", (name, meant) => {
  expect(mostSimilar(name, NAMES)).toBe(meant);
});

test("The most similar names come first.", () => {
  expect(similarNames("httpPost", NAMES)).toEqual(["httpPort", "httpHost"]);
});

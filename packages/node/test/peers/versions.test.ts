import { expect, test } from "vitest";
import { parseRange, parseVersion, versionKey } from "../../src/peers/versions.ts";
import { present } from "../../src/platform/present.ts";

const version = (text: string) => present(parseVersion(text));
const isIn = (text: string, range: string, options = {}) =>
  present(parseRange(range, options)).test(version(text));

test("The parser reads versions.", () => {
  expect(parseVersion("5.7.2")).toMatchObject({ major: 5, minor: 7, patch: 2, prerelease: [] });
  expect(parseVersion("v5.7.2-dev.10+build")).toMatchObject({
    version: "5.7.2-dev.10",
    prerelease: ["dev", 10],
  });
  for (const text of ["", "5", "5.7", "5.7.x", "5.7.2-", "five", "5.7.2.1", " 5.7.2", "5.07.2", "5.7.2-01"]) {
    expect(parseVersion(text), text).toBeUndefined();
  }
});

test("The keys of versions order them.", () => {
  const ordered = [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0",
    "1.9.0",
    "1.10.0",
    "2.0.0",
  ];
  const keys = ordered.map(versionKey);
  expect(keys.toSorted()).toEqual(keys);
  expect(new Set(keys).size).toBe(ordered.length);
  expect(versionKey("1.0.0+a")).toBe(versionKey("1.0.0+b"));
});

test.each([
  ["5.7.2", ["5.7.2", "v5.7.2"], ["5.7.1", "5.7.3", "5.7.2-dev"]],
  ["^5.2.0 || ^5.2.0-dev", ["5.2.0", "5.9.9", "5.2.0-dev.3"], ["5.1.9", "6.0.0", "5.3.0-dev", "6.0.0-dev"]],
  ["^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "0.2.2"]],
  ["^0.0.3", ["0.0.3"], ["0.0.4"]],
  ["^0.0", ["0.0.9"], ["0.1.0"]],
  ["^0", ["0.9.9"], ["1.0.0"]],
  ["~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0"]],
  ["~> 1.2", ["1.2.0", "1.2.9"], ["1.3.0"]],
  ["~1", ["1.9.0"], ["2.0.0"]],
  [">1.2", ["1.3.0"], ["1.2.9"]],
  [">1", ["2.0.0"], ["1.9.9"]],
  [">1.2.3", ["1.2.4"], ["1.2.3"]],
  [">= 1.2.3 < 2", ["1.2.3", "1.9.9"], ["1.2.2", "2.0.0", "2.0.0-a"]],
  ["<=1.2", ["1.2.9"], ["1.3.0"]],
  ["<=1.2.3", ["1.2.3"], ["1.2.4"]],
  ["<1.2", ["1.1.9"], ["1.2.0"]],
  ["1.2 - 2.3", ["1.2.0", "2.3.9"], ["1.1.9", "2.4.0"]],
  ["1.2.x", ["1.2.0"], ["1.3.0"]],
  ["1.x.3", ["1.0.0", "1.9.9"], ["2.0.0"]],
  ["1", ["1.9.9"], ["2.0.0"]],
  ["*", ["0.0.0", "9.9.9"], ["1.0.0-a"]],
  ["", ["1.2.3"], []],
  [">=*", ["1.2.3"], []],
  ["<*", [], ["1.2.3", "0.0.0"]],
  [">1.0.0-alpha", ["1.0.0-beta", "1.0.0", "2.0.0"], ["1.0.0-alpha", "2.0.0-alpha"]],
])("The range %s includes and excludes the expected versions.", (range, inside, outside) => {
  for (const text of inside) expect(isIn(text, range), text).toBe(true);
  for (const text of outside) expect(isIn(text, range), text).toBe(false);
});

// As in node-semver 7.0.0, which old nodes use.
test.each([
  ["5.x", ["5.0.0-dev", "5.9.9"], ["6.0.0-dev"]],
  ["^5.0", ["5.9.9", "6.0.0-dev"], ["5.0.0-dev", "6.0.0"]],
  ["~5.1.x", ["5.1.0", "5.2.0-dev"], ["5.1.0-dev", "5.2.0"]],
  [">5", ["6.0.0-dev"], ["5.9.9"]],
  [">=5.7", ["5.7.0-dev"], ["5.6.9"]],
  ["<=5", ["5.9.9"], ["6.0.0-dev"]],
  ["<5", ["4.9.9"], ["5.0.0-dev"]],
  ["5.1 - 5.6", ["5.1.0", "5.7.0-dev"], ["5.1.0-dev", "5.7.0"]],
  ["*", ["0.0.0-0"], []],
  ["<*", [], ["0.0.0-0"]],
])(
  "The range %s with pre-releases includes and excludes the expected versions.",
  (range, inside, outside) => {
    const options = { includesPreReleases: true };
    for (const text of inside) expect(isIn(text, range, options), text).toBe(true);
    for (const text of outside) expect(isIn(text, range, options), text).toBe(false);
  },
);

test.each(["abc", "1.2.3.4", ">>1", "1.2.3 || abc", "^^1", "latest"])("%s is not a range", (text) => {
  expect(parseRange(text)).toBeUndefined();
});

test("A range has at most 256 characters, and its blanks cost nothing.", () => {
  expect(parseRange(">=5.7.2".padEnd(256))?.test(version("5.7.2"))).toBe(true);
  expect(parseRange(">=5.7.2".padEnd(257))).toBeUndefined();
  expect(isIn("5.8.0", ">=5.7.2 \t  \n   <6")).toBe(true);
});

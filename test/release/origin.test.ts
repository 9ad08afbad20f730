/** Maintainer and repository of a release. */
import { expect, test } from "vitest";
import { releaseNotes } from "../../tools/release/notes.ts";
import { manifestMembers, readOrder, silences } from "../../tools/release/origin.ts";

const maintainer = "An Author <author@mail.example>";
const repository = "https://code.example/node";

test("A release without options contains everything, and reports missing origins.", () => {
  const order = readOrder([]);
  expect(order).toEqual({ what: "everything", origin: {} });
  expect(silences(order.origin).join("\n")).toMatch(
    /no maintainer.*--maintainer.*\n.*repository: --repository/,
  );
  expect(manifestMembers(order.origin, "client")).toEqual({});
});

test("Maintainer and repository are those of the options.", () => {
  const order = readOrder(["packages", "--maintainer", maintainer, "--repository", repository]);
  expect(order).toEqual({ what: "packages", origin: { maintainer, repository } });
  expect(silences(order.origin)).toEqual([]);
  expect(manifestMembers(order.origin, "client").repository).toEqual({
    type: "git",
    url: `git+${repository}`,
    directory: "packages/client",
  });
  const notes = releaseNotes("0.1.0", "# Changelog\n\n## 0.1.0\n\nThe first.\n", [], order.origin);
  expect(notes).toContain(`Source: ${repository}\n`);
});

test.each([
  [["everythin"], '"everythin" is not a part of a release'],
  [["checkpoints", "node.example"], 'the URL of a node is expected, not "node.example"'],
  [["checkpoints"], '"checkpoints" is not a part of a release'],
  [["packages", "version"], '"packages version" is not a part'],
  [["--maintainer", "none"], '--maintainer: "Name <mail>" is expected, not "none"'],
  [["--repository", "ftp://x"], '--repository: a URL with https is expected, not "ftp://x"'],
  [["--fly"], "--fly"],
])("%j is refused with the reason", (args, reason) => {
  expect(() => readOrder(args)).toThrow(reason);
});

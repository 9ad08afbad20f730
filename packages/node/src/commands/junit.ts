/** Formats outcomes of tests as JUnit XML, which systems for continuous integration read. */
import { linesWithoutControls } from "../platform/text/foreign.ts";

export type TestCase = {
  readonly className: string;
  readonly name: string;
  readonly durationMs: number;
} & (
  | { readonly state: "passed" }
  | { readonly state: "skipped"; readonly reason: string }
  | { readonly state: "failed"; readonly reason: string; readonly details: readonly string[] }
);

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(3);

/** Escapes a text; characters that XML cannot have are escaped as in JSON. */
const xml = (text: string): string =>
  linesWithoutControls(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Returns the document, with one suite. */
export function junitXml(suite: string, cases: readonly TestCase[]): string {
  const countOf = (state: TestCase["state"]) => cases.filter((test) => test.state === state).length;
  const totalMs = cases.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const counts = `tests="${cases.length}" failures="${countOf("failed")}" errors="0" skipped="${countOf("skipped")}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${secondsOf(totalMs)}">`,
    `  <testsuite name="${xml(suite)}" ${counts} time="${secondsOf(totalMs)}">`,
    ...cases.flatMap(elementOf),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function elementOf(test: TestCase): string[] {
  const opening = `    <testcase classname="${xml(test.className)}" name="${xml(test.name)}" time="${secondsOf(test.durationMs)}"`;
  if (test.state === "passed") return [`${opening}/>`];
  const content =
    test.state === "skipped"
      ? `<skipped message="${xml(test.reason)}"/>`
      : `<failure message="${xml(test.reason)}">${xml(test.details.join("\n"))}</failure>`;
  return [`${opening}>`, `      ${content}`, "    </testcase>"];
}

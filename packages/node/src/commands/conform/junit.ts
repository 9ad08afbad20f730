/** Formats the outcomes of scenarios as JUnit XML, which systems for continuous integration read. */
import type { Outcome } from "../../conform/run.ts";
import { linesWithoutControls } from "../../platform/text/foreign.ts";
import { failureLines, groupOf, totalsOf } from "./report.ts";

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(3);

/** Escapes a text; characters that XML cannot have are escaped as in JSON. */
const xml = (text: string): string =>
  linesWithoutControls(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Returns the document, with one test case for each scenario. */
export function junitXml(outcomes: readonly Outcome[]): string {
  const { failed, skipped } = totalsOf(outcomes);
  const totalMs = outcomes.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const counts = `tests="${outcomes.length}" failures="${failed.length}" errors="0" skipped="${skipped.length}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${secondsOf(totalMs)}">`,
    `  <testsuite name="uniknode conform" ${counts} time="${secondsOf(totalMs)}">`,
    ...outcomes.flatMap(testCase),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function testCase(outcome: Outcome): string[] {
  const { name } = outcome.scenario;
  const opening = `    <testcase classname="conform.${groupOf(name)}" name="${xml(name)}" time="${secondsOf(outcome.durationMs)}"`;
  if (outcome.state === "passed") return [`${opening}/>`];
  const content =
    outcome.state === "skipped"
      ? `<skipped message="${xml(outcome.reason)}"/>`
      : `<failure message="${xml(outcome.found)}">${xml(failureLines(outcome).join("\n"))}</failure>`;
  return [`${opening}>`, `      ${content}`, "    </testcase>"];
}

/** Formats the outcomes of scenarios as JUnit XML, which systems for continuous integration read. */
import type { Outcome } from "../../conform/run.ts";
import { linesWithoutControls } from "../../platform/text/foreign.ts";
import { failureLines, groupOf } from "./report.ts";

type TestCase = {
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

/** Returns the document, with one test case for each scenario. */
export function conformXml(outcomes: readonly Outcome[]): string {
  const cases = outcomes.map(toTestCase);
  const countOf = (state: TestCase["state"]) => cases.filter((test) => test.state === state).length;
  const totalMs = cases.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const counts = `tests="${cases.length}" failures="${countOf("failed")}" errors="0" skipped="${countOf("skipped")}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts} time="${secondsOf(totalMs)}">`,
    `  <testsuite name="uniknode conform" ${counts} time="${secondsOf(totalMs)}">`,
    ...cases.flatMap(elementOf),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function toTestCase(outcome: Outcome): TestCase {
  const { state, durationMs, scenario } = outcome;
  const common = { className: `conform.${groupOf(scenario.name)}`, name: scenario.name, durationMs };
  if (state === "passed") return { ...common, state };
  if (state === "skipped") return { ...common, state, reason: outcome.reason };
  return { ...common, state, reason: outcome.found, details: failureLines(outcome) };
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

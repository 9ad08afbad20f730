/** Formats the outcomes of scenarios as lines, as JSON, and as JUnit XML. */

import { GROUPS, type Outcome } from "../../conform/run.ts";
import { linesWithoutControls } from "../../platform/text/foreign.ts";
import { countOf } from "../../platform/text/wording.ts";

/** Maximum number of calls of a failed scenario that the lines show; earlier calls are counted. */
const MAX_CALLS = 10;
const NAME_WIDTH = 27;

/** Returns the name of the group of a scenario. */
const groupOf = (name: string): string =>
  Object.entries(GROUPS).find(([, scenarios]) => scenarios.some((scenario) => scenario.name === name))?.[0] ??
  "";

/** Formats one outcome. */
export function outcomeLines(outcome: Outcome): string[] {
  const { scenario, state } = outcome;
  const name = scenario.name.padEnd(NAME_WIDTH);
  if (state === "passed") return [`ok    ${name} ${outcome.durationMs} ms`];
  if (state === "skipped") return [`skip  ${name} ${outcome.reason}`];
  return [`FAIL  ${scenario.name}`, ...failureLines(outcome).map((line) => `      ${line}`)];
}

/** Describes a failure: the rule, the calls, the difference and the next step. */
function failureLines({ scenario, sent, expected, found, change }: Outcome & { state: "failed" }): string[] {
  const hidden = Math.max(0, sent.length - MAX_CALLS);
  return [
    `rule      ${scenario.rule}`,
    ...(hidden > 0 ? [`sent      ${countOf(hidden, "calls")}, then`] : []),
    ...sent.slice(hidden).map((call) => `sent      ${call}`),
    `expected  ${expected}`,
    `found     ${found}`,
    `change    ${change}`,
    `see       ${scenario.section}`,
  ];
}

const namesOf = (outcomes: readonly Outcome[], state: Outcome["state"]): string[] =>
  outcomes.filter((outcome) => outcome.state === state).map(({ scenario }) => scenario.name);

/** Names of the scenarios by state. */
type Totals = Readonly<Record<Outcome["state"], readonly string[]>>;

export const totalsOf = (outcomes: readonly Outcome[]): Totals => ({
  passed: namesOf(outcomes, "passed"),
  failed: namesOf(outcomes, "failed"),
  skipped: namesOf(outcomes, "skipped"),
});

export const summaryLine = ({ passed, failed, skipped }: Totals): string =>
  `${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`;

/** Returns the report as a JSON value. */
export const reportJson = (url: string, outcomes: readonly Outcome[]) => ({
  url,
  ...totalsOf(outcomes),
  scenarios: outcomes.map(({ scenario: { name, rule, section }, ...outcome }) => ({
    name,
    group: groupOf(name),
    rule,
    section,
    ...outcome,
  })),
});

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

/** Formats outcomes as JUnit XML, which systems for continuous integration read: one test case for each scenario. */
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

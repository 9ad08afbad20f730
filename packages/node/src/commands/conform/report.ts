/** Formats the outcomes of scenarios as lines and as JSON. */

import { GROUPS } from "../../conform/catalogue/groups.ts";
import type { Outcome } from "../../conform/run.ts";
import { countOf } from "../../platform/text/count.ts";

/** Calls of a failed scenario that the lines show: the last ones. */
const MAX_CALLS = 10;
const NAME_WIDTH = 27;

/** Returns the name of the group of a scenario. */
export const groupOf = (name: string): string =>
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
export function failureLines({
  scenario,
  sent,
  expected,
  found,
  change,
}: Outcome & { state: "failed" }): string[] {
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

/** Summary of a run. */
export type Totals = Readonly<Record<Outcome["state"], readonly string[]>>;

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

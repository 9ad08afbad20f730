/** Converts the outcomes of scenarios to test cases of a JUnit report. */
import type { Outcome } from "../../conform/run.ts";
import { junitXml, type TestCase } from "../junit.ts";
import { failureLines, groupOf } from "./report.ts";

/** Returns the document, with one test case for each scenario. */
export const conformXml = (outcomes: readonly Outcome[]): string =>
  junitXml("uniknode conform", outcomes.map(testCase));

function testCase(outcome: Outcome): TestCase {
  const { state, durationMs, scenario } = outcome;
  const common = { className: `conform.${groupOf(scenario.name)}`, name: scenario.name, durationMs };
  if (state === "passed") return { ...common, state };
  if (state === "skipped") return { ...common, state, reason: outcome.reason };
  return { ...common, state, reason: outcome.found, details: failureLines(outcome) };
}

/** Formats the outcomes of a scenario as lines, as JSON and as test cases. */
import type { Report, StepOutcome } from "@uniknode/client/testing";
import { countOf } from "../../platform/text/count.ts";
import { junitXml } from "../junit.ts";

const TITLE_WIDTH = 56;

/** Formats one step. */
export function stepLines(outcome: StepOutcome): string[] {
  const { title, state, durationMs } = outcome;
  if (state === "skipped") return [`skip  ${title}`];
  if (state === "failed") return [`FAIL  ${title}`, ...failureLines(outcome).map((line) => `      ${line}`)];
  if (outcome.result === "") return [`      ${title}`];
  return [`ok    ${title.padEnd(TITLE_WIDTH)} ${`${durationMs} ms`.padStart(7)}  ${outcome.result}`];
}

function failureLines({ at, error }: StepOutcome & { state: "failed" }): string[] {
  const { expected, found } = error as { expected?: string; found?: string };
  return expected === undefined
    ? [`step      ${at}`, `reason    ${error.message}`]
    : [`step      ${at}`, `expected  ${expected}`, `found     ${found}`];
}

export const countsOf = ({ steps }: Report) => {
  const count = (state: StepOutcome["state"]) => steps.filter((step) => step.state === state).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") };
};

export function summaryLine(report: Report): string {
  const { passed, failed, skipped } = countsOf(report);
  return `${report.name}: ${countOf(passed, "steps")} passed, ${failed} failed, ${skipped} skipped`;
}

/** Returns the report as a JSON value. */
export const reportJson = (report: Report) => ({
  ...report,
  ...countsOf(report),
  steps: report.steps.map((step) =>
    step.state === "failed" ? { ...step, error: undefined, ...errorJson(step.error) } : step,
  ),
});

function errorJson(error: Error) {
  const { code, expected, found } = error as { code?: string; expected?: string; found?: string };
  return { code, message: error.message, expected, found };
}

/** Returns the report as JUnit XML, with one test case for each step. */
export const scenarioXml = ({ name, steps }: Report): string =>
  junitXml(
    `uniknode scenario: ${name}`,
    steps.map((step) => {
      const common = {
        className: `scenario.${name}`,
        name: `${step.at}: ${step.title}`,
        durationMs: step.durationMs,
      };
      if (step.state === "passed") return { ...common, state: "passed" };
      if (step.state === "skipped")
        return { ...common, state: "skipped", reason: "an earlier step failed, or the run was interrupted" };
      return { ...common, state: "failed", reason: step.error.message, details: failureLines(step) };
    }),
  );

/** `uniknode scenario run`: plays a scenario file on a dev chain, and reports each step. */
import { readFileSync, statSync } from "node:fs";
import {
  BOUNDS,
  type Report,
  readScenario,
  runScenario,
  type Scenario,
  ScenarioError,
  type Target,
} from "@uniknode/client/testing";
import { Command } from "commander";
import type { Config } from "../../config/resolve.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { ConfigError } from "../../platform/config-error.ts";
import { writeWholeFile } from "../../platform/files/whole-file.ts";
import { stopSignal } from "../../platform/lifecycle/signals.ts";
import { tokenOf } from "../access/local-token.ts";
import { addFlags, readConfig } from "../options.ts";
import { printJson, printLines } from "../print.ts";
import { scenarioRunOptions } from "./options.ts";
import { reportJson, scenarioXml, stepLines, summaryLine } from "./report.ts";
import { withTemporaryChain } from "./temporary-chain.ts";

type RunConfig = Config<typeof scenarioRunOptions>;

const NOTES = `
Plays the steps on a new dev chain in a temporary folder, or on the dev chain at --url, where forging is paused meanwhile.
docs/guides/scenarios.md describes the format. Ctrl-C ends the run with the report of the steps that were played. The exit
code is 1 if a step failed or was not played, and 2 if the file is not a scenario.`;

/** Bytes of a character at most, for each unit of its length. */
const MAX_BYTES_PER_UNIT = 3;

export function runScenarioCommand(): Command {
  const command = new Command("run")
    .description("play a scenario file on a dev chain, and report each step")
    .argument("<file>", "scenario file")
    .addHelpText("after", NOTES);
  return addFlags(command, scenarioRunOptions).action(async (file: string) => {
    const config = readConfig(command, scenarioRunOptions);
    const scenario = readScenarioFile(file);
    const interruption = new AbortController();
    stopSignal("SIGHUP").then(() => interruption.abort());
    const { signal } = interruption;
    const report = await runOn(config, (target) => play(scenario, config, target, signal)).catch(
      (error: unknown) => {
        throw signal.aborted ? incomplete("the run was interrupted") : error;
      },
    );
    finish(config, report);
    if (signal.aborted) throw incomplete("the run was interrupted");
  });
}

/** Reads the file. Its errors name the file, the member and the reason. */
export function readScenarioFile(file: string): Scenario {
  const { size } = statSync(file);
  const maxBytes = MAX_BYTES_PER_UNIT * BOUNDS.characters;
  if (size > maxBytes)
    throw new ConfigError(`${file} is not a scenario: it is longer than ${maxBytes} bytes`);
  try {
    return readScenario(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw new ConfigError(
      `${file} is not a scenario: ${error.message}; docs/guides/scenarios.md describes the format`,
    );
  }
}

async function runOn(config: RunConfig, work: (target: Target) => Promise<Report>): Promise<Report> {
  const { url } = config;
  if (url !== undefined) return work({ url, token: tokenOf({ ...config, url }) });
  return withTemporaryChain(work);
}

const play = (
  scenario: Scenario,
  { stepTimeout, json }: RunConfig,
  target: Target,
  signal: AbortSignal,
): Promise<Report> =>
  runScenario(scenario, {
    ...target,
    signal,
    stepTimeoutMs: stepTimeout * 1_000,
    onStep: (outcome) => json || printLines(stepLines(outcome)),
  });

function finish({ json, junit }: RunConfig, report: Report): void {
  if (json) printJson(reportJson(report));
  else printLines(["", summaryLine(report)]);
  if (junit !== undefined) writeWholeFile(junit, scenarioXml(report));
  const failed = report.steps.find(({ state }) => state === "failed");
  if (failed) throw incomplete(`${failed.at} failed: ${failed.title}`);
}

const incomplete = (message: string): CodedError<"SCENARIO"> =>
  new CodedError("SCENARIO", message, { isRetryable: false });

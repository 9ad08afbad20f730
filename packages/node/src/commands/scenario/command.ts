/** `uniknode scenario`: runs and records scenario files. */
import { Command } from "commander";
import { recordScenarioCommand } from "./record.ts";
import { runScenarioCommand } from "./run.ts";

export const scenarioCommand = (): Command =>
  new Command("scenario").addCommand(runScenarioCommand()).addCommand(recordScenarioCommand());

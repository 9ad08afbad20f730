/** `uniknode config`: shows all options of `dev` or `run` with values and origins. */
import { Command } from "commander";
import { fetchesGenesis, loadNetwork } from "../config/network.ts";
import { devOptions, runOptions } from "../config/options.ts";
import { toPeersOptions } from "../config/peers.ts";
import {
  type OptionTable,
  type Resolved,
  resolveConfig,
  resolveOrigins,
  shownOption,
} from "../config/resolve.ts";
import { ConfigError } from "../platform/coded-error.ts";
import { versionLine } from "../platform/lifecycle/program.ts";
import { addFlags, sourcesOf, unknownVariables, variablesOf } from "./flags.ts";
import { columns, printJson, printLines, printText } from "./print.ts";

export const configCommand = (createProgram: () => Promise<Command>): Command =>
  new Command("config")
    .addCommand(tableCommand("dev", devOptions, createProgram, () => {}))
    .addCommand(tableCommand("run", runOptions, createProgram, checkNetwork));

function tableCommand(
  name: string,
  table: OptionTable,
  createProgram: () => Promise<Command>,
  checkMore: (command: Command) => void,
): Command {
  const command = new Command(name)
    .description(`show the options with which "uniknode ${name}" would start; accepts the same options`)
    .option("--check", "Only check the options, and print all errors.")
    .option("--json", "Print one JSON document.");
  return addFlags(command, table).action(async () => {
    const resolved = Object.values(resolveOrigins(table, sourcesOf(command)));
    const { check = false, json = false } = command.opts<{ check?: boolean; json?: boolean }>();
    if (check) {
      checkOptions(resolved, await unknownVariables(process.env, createProgram, variablesOf(command)));
      checkMore(command);
      printText(`the configuration of "uniknode ${name}" is valid`);
      return;
    }
    const rows = resolved.map(shownOption);
    const lines = columns(
      ["OPTION", "VALUE", "ORIGIN"],
      rows.map(({ option, value, source, origin }) => [option, String(value ?? ""), source ?? origin]),
    );
    if (json) printJson(rows);
    else printLines([...lines, "", versionLine()]);
  });
}

/** @throws {ConfigError} with all errors, one per line */
function checkOptions(resolved: readonly Resolved[], unknown: readonly string[]): void {
  const invalid = resolved.flatMap(({ read }) => {
    try {
      read();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  const faults = [...invalid, ...unknown];
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
}

/** Checks the files of the network, unless the genesis block will be fetched from peers, and the seed peers. */
function checkNetwork(command: Command): void {
  const config = resolveConfig(runOptions, sourcesOf(command));
  const name = fetchesGenesis(config, config) ? config.network : loadNetwork(config).files.network.name;
  if (!config.alone) toPeersOptions(config, name ?? "");
}

/** `uniknode dev` and `uniknode run`: start a dev chain, or a node of a network. */
import { Command } from "commander";
import { devOptions, runOptions } from "../config/options.ts";
import { withServingThread } from "../processes/serving/thread.ts";
import { sourcesOf, withOptions } from "./flags.ts";

export function devCommand(): Command {
  const command = new Command("dev");
  return withOptions(command, devOptions, async (config) => {
    await withServingThread(async (servingThread) => {
      // Both threads load their modules in parallel.
      const { runDevChain } = await import("../processes/dev.ts");
      await runDevChain(config, { sources: sourcesOf(command), servingThread });
    });
  });
}

export function runCommand(): Command {
  const command = new Command("run");
  return withOptions(command, runOptions, async (config) => {
    await withServingThread(async (servingThread) => {
      // Both threads load their modules in parallel.
      const { runNode } = await import("../processes/node/run.ts");
      await runNode(config, { sources: sourcesOf(command), servingThread });
    });
  });
}

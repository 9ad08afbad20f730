/** `uniknode run`: starts a node of a Unikname network. */
import { Command } from "commander";
import { runOptions } from "../../config/options.ts";
import { withServingThread } from "../../processes/serving/thread.ts";
import { addFlags, readConfig, sourcesOf } from "../options.ts";

export function runCommand(): Command {
  const command = new Command("run");
  return addFlags(command, runOptions).action(async () => {
    const config = readConfig(command, runOptions);
    await withServingThread(async (servingThread) => {
      // Both threads load their modules in parallel.
      const { runNode } = await import("../../processes/node/run.ts");
      await runNode(config, { sources: sourcesOf(command), servingThread });
    });
  });
}

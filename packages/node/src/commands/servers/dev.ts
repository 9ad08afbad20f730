/** `uniknode dev`: starts a dev chain. */
import { Command } from "commander";
import { devOptions } from "../../config/options.ts";
import { withServingThread } from "../../processes/serving/thread.ts";
import { addFlags, readConfig, sourcesOf } from "../options.ts";

export function devCommand(): Command {
  const command = new Command("dev");
  return addFlags(command, devOptions).action(async () => {
    const config = readConfig(command, devOptions);
    await withServingThread(async (servingThread) => {
      // Both threads load their modules in parallel.
      const { runDevChain } = await import("../../processes/dev/run.ts");
      await runDevChain(config, { sources: sourcesOf(command), servingThread });
    });
  });
}

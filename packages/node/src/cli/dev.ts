/** `uniknode dev`: a living chain in front of a newcomer. */
import { Command } from "commander";
import { devOptions } from "../config/options.ts";
import { startDevChain } from "../dev/start.ts";
import { stopSignal } from "../lifecycle/signals.ts";
import { programVersion } from "../lifecycle/version.ts";
import { addFlags, configOf } from "./options.ts";

export function devCommand(): Command {
  const command = new Command("dev").description(
    "start a forging chain with funded accounts, for development",
  );
  return addFlags(command, devOptions).action(async () => {
    const stopped = stopSignal();
    const chain = await startDevChain(configOf(command, devOptions), {
      version: programVersion(),
      print: (text) => void process.stdout.write(`${text}\n`),
    });
    try {
      await Promise.race([stopped, chain.failed]);
      process.stdout.write("\nStopping ... (Ctrl-C again ends at once)\n");
    } finally {
      await chain.stop();
    }
    process.stdout.write("Stopped.\n");
  });
}

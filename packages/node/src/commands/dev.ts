/** `uniknode dev`: starts a dev chain. */
import { Command } from "commander";
import { devOptions } from "../config/options.ts";
import { serveUntilStopped } from "../platform/lifecycle/process.ts";
import { programVersion } from "../platform/lifecycle/version.ts";
import { openLog } from "../platform/logging/logger.ts";
import { openOutput } from "../platform/logging/output.ts";
import { startDevChain } from "../processes/dev/dev.ts";
import { addFlags, readConfig } from "./options.ts";

/** Time to write the last lines, in case nothing reads them. */
const OUTPUT_TIMEOUT_MS = 1_000;

export function devCommand(): Command {
  const command = new Command("dev").description(
    "start a forging chain with funded accounts, for development",
  );
  return addFlags(command, devOptions).action(async () => {
    const config = readConfig(command, devOptions);
    const output = openOutput();
    const log = openLog(config.logLevel);
    const print = (text: string) => output.write(`${text}\n`);
    await serveUntilStopped({
      log,
      start: () => startDevChain(config, { version: programVersion(), print, log }),
      onStopping: () => print("\nStopping ... (press Ctrl-C again to end at once)"),
    });
    print("Stopped.");
    await output.flushed(OUTPUT_TIMEOUT_MS);
  });
}

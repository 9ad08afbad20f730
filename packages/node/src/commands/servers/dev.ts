/** `uniknode dev`: starts a dev chain. */
import { Command } from "commander";
import { shownOptions } from "../../config/display.ts";
import { devOptions } from "../../config/options.ts";
import { commandLine } from "../../platform/lifecycle/command-line.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { shownVersions } from "../../platform/lifecycle/version.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openScreen } from "../../platform/logging/output.ts";
import { withServingThread } from "../../processes/serving/thread.ts";
import { addFlags, readConfig, sourcesOf } from "../options.ts";

/** Timeout for writing the last lines, in case the reader is blocked. */
const OUTPUT_TIMEOUT_MS = 1_000;

export function devCommand(): Command {
  const command = new Command("dev").description(
    "start a forging chain with funded accounts, for development",
  );
  return addFlags(command, devOptions).action(async () => {
    const config = readConfig(command, devOptions);
    await withServingThread(async (servingThread) => {
      // Both threads load their modules in parallel.
      const { startDevChain, forgeDevBlocks } = await import("../../processes/dev/dev.ts");
      const screen = openScreen();
      const log = openLog(config.logLevel, config.logFormat);
      await serveUntilStopped({
        log,
        start: (stopping) =>
          startDevChain(config, {
            stopping,
            versions: shownVersions(),
            shownOptions: shownOptions(devOptions, sourcesOf(command)),
            commandLine: (...args) => commandLine(process.env, ...args),
            screen,
            log,
            servingThread,
          }),
        whileServing: forgeDevBlocks,
        onStopping() {
          screen.end();
          screen.print("\nStopping ... (press Ctrl-C again to stop immediately)");
        },
      });
      screen.print("Stopped.");
      await screen.flushed(OUTPUT_TIMEOUT_MS);
    });
  });
}

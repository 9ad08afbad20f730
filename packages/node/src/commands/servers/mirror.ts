/** `uniknode mirror`: copies the chain of a node into PostgreSQL. */
import { Command } from "commander";
import { mirrorOptions } from "../../config/mirror.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { addFlags, readConfig } from "../options.ts";

export function mirrorCommand(): Command {
  const command = new Command("mirror").description(
    "copy the chain of a node into PostgreSQL, and follow it",
  );
  return addFlags(command, mirrorOptions).action(async () => {
    const config = readConfig(command, mirrorOptions);
    const log = openLog(config.logLevel, config.logFormat);
    // Only this command loads the driver.
    const { startMirror } = await import("../../processes/mirror/mirror.ts");
    await serveUntilStopped({ log, start: (signal) => startMirror(config, log.logger, signal) });
  });
}

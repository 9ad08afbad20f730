/** `uniknode serve`: serves the public API from PostgreSQL. */
import { Command } from "commander";
import { serveOptions } from "../../config/serve.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openOutput } from "../../platform/logging/output.ts";
import { addFlags, readConfig } from "../options.ts";

export function serveCommand(): Command {
  const command = new Command("serve");
  return addFlags(command, serveOptions).action(async () => {
    const config = readConfig(command, serveOptions);
    const output = openOutput();
    const log = openLog(config.logLevel, config.logFormat);
    // Only this command and the mirror load the driver.
    const { startServe } = await import("../../processes/serve/serve.ts");
    await serveUntilStopped({
      log,
      async start(signal) {
        const served = await startServe(config, log, signal);
        output.write(`${served.url}\n`);
        return served;
      },
    });
  });
}

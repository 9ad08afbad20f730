/** `uniknode deliver`: sends webhooks from PostgreSQL. */
import { Command } from "commander";
import { deliverOptions } from "../../config/deliver.ts";
import { serveUntilStopped } from "../../platform/lifecycle/process.ts";
import { openLog } from "../../platform/logging/logger.ts";
import { openOutput } from "../../platform/logging/output.ts";
import { addFlags, readConfig } from "../options.ts";

export function deliverCommand(): Command {
  const command = new Command("deliver");
  return addFlags(command, deliverOptions).action(async () => {
    const config = readConfig(command, deliverOptions);
    const output = openOutput();
    const log = openLog(config.logLevel, config.logFormat);
    // Loads the driver of the database.
    const { startDeliver } = await import("../../processes/deliver/deliver.ts");
    await serveUntilStopped({
      log,
      async start(signal) {
        const served = await startDeliver(config, log.logger, signal);
        output.write(`${served.url}\n`);
        return served;
      },
      heap: { growsForNewObjects: true },
    });
  });
}

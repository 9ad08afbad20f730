/** `uniknode rpc`: serves JSON-RPC for exchanges. */
import { Command } from "commander";
import { serveUntilStopped } from "../platform/lifecycle/process.ts";
import { openLog } from "../platform/logging/logger.ts";
import { openOutput } from "../platform/logging/output.ts";
import { rpcOptions } from "../rpc/options.ts";
import { startRpc } from "../rpc/server.ts";
import { addFlags, readConfig } from "./options.ts";

export function rpcCommand(): Command {
  const command = new Command("rpc");
  return addFlags(command, rpcOptions).action(async () => {
    const config = readConfig(command, rpcOptions);
    const output = openOutput();
    const log = openLog(config.logLevel, config.logFormat);
    await serveUntilStopped({
      log,
      async start() {
        const { url, close } = await startRpc(config, log.logger);
        log.logger.info({ url, node: config.url }, "Exchange JSON-RPC running");
        output.write(`${url}\n`);
        return { failed: new Promise<never>(() => {}), closing: () => "JSON-RPC", stop: close };
      },
    });
  });
}

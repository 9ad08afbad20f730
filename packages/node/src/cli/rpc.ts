/** `uniknode rpc`: the companion for exchanges. */
import { Command } from "commander";
import { stopSignal } from "../lifecycle/signals.ts";
import { createLogger } from "../logging/logger.ts";
import { rpcOptions } from "../rpc/options.ts";
import { startRpc } from "../rpc/server.ts";
import { addFlags, configOf } from "./options.ts";

export function rpcCommand(): Command {
  const command = new Command("rpc").description("serve the JSON-RPC of exchanges, beside a node");
  return addFlags(command, rpcOptions).action(async () => {
    const config = configOf(command, rpcOptions);
    const logger = createLogger(config.logLevel);
    const stopped = stopSignal();
    const server = await startRpc(config, logger);
    logger.info({ url: server.url, node: config.url }, "Exchange JSON-RPC running");
    process.stdout.write(`${server.url}\n`);
    await stopped;
    await server.close();
  });
}

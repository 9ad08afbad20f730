/** `uniknode rpc`: serves JSON-RPC for exchanges. */
import { Command } from "commander";
import { connectionOptions } from "../config/connection.ts";
import { optionTable, readHosts, readInteger, readRanges, readText } from "../config/define-option.ts";
import { nodeOptions } from "../config/options.ts";
import { serveUntilStopped } from "../platform/lifecycle/process.ts";
import { openLog } from "../platform/logging/logger.ts";
import { openOutput } from "../platform/logging/output.ts";
import { startRpc } from "../rpc/server.ts";
import { withOptions } from "./flags.ts";

/** Maximum of calls per minute, over all clients, that derive keys from a password (bip38). */
const DERIVATIONS_PER_MINUTE = 60;

export const rpcOptions = optionTable({
  url: connectionOptions.url,
  data: connectionOptions.data,
  rpcHost: {
    placeholder: "HOST",
    sentence: "Address to listen on. Clients send passphrases: keep it on loopback, or put TLS in front.",
    default: "127.0.0.1",
    read: readText,
  },
  rpcPort: {
    placeholder: "PORT",
    sentence: "Port to listen on; 0 selects a free port and prints it.",
    default: 8080,
    read: readInteger(0, 65535),
  },
  rpcAllow: {
    placeholder: "RANGES",
    sentence: "Addresses and networks of allowed clients, separated by commas; * for all.",
    default: "127.0.0.1,::1",
    read: readRanges,
  },
  rpcHosts: {
    placeholder: "NAMES",
    sentence:
      "Names and addresses of this machine, separated by commas, that are allowed in the Host header, in addition to localhost and the address that a request arrives at.",
    default: [],
    read: readHosts,
  },
  rpcData: {
    placeholder: "FILE",
    sentence: "Database of created transactions and of keys; :memory: discards them when the process ends.",
    default: "json-rpc.sqlite",
    read: readText,
  },
  logLevel: nodeOptions.logLevel,
  logFormat: nodeOptions.logFormat,
});

export function rpcCommand(): Command {
  return withOptions(new Command("rpc"), rpcOptions, async (config) => {
    const output = openOutput();
    const log = openLog(config.logLevel, config.logFormat);
    await serveUntilStopped({
      log,
      async start() {
        const { url, close } = await startRpc(
          { ...config, derivationsPerMinute: DERIVATIONS_PER_MINUTE },
          log.logger,
        );
        log.logger.info({ url, node: config.url }, "Exchange JSON-RPC running");
        output.write(`${url}\n`);
        return { failed: new Promise<never>(() => {}), closing: () => "JSON-RPC", stop: close };
      },
    });
  });
}

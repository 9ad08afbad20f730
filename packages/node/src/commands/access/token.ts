/** `uniknode token`: prints the webhook token of a data folder. */
import { Command } from "commander";
import { nodeOptions } from "../../config/options.ts";
import { addFlags, readConfig } from "../options.ts";
import { localTokenOptions, readLocalToken } from "./local-token.ts";

const options = { ...localTokenOptions, webhookToken: nodeOptions.webhookToken };

export function tokenCommand(): Command {
  const command = new Command("token");
  return addFlags(command, options).action(() => {
    const config = readConfig(command, options);
    process.stdout.write(`${config.webhookToken ?? readLocalToken(config)}\n`);
  });
}

/** `uniknode webhooks`: manages the webhooks of a running node, and imports webhooks of an old node. */
import { Command } from "commander";
import { deliveryCommands } from "./deliveries.ts";
import { testCommand } from "./dry-run.ts";
import { importCommand } from "./import.ts";
import { registerCommands } from "./register.ts";

export function webhooksCommand(): Command {
  const command = new Command("webhooks").description("manage the webhooks of a node");
  for (const below of [...registerCommands(), ...deliveryCommands(), testCommand(), importCommand()]) {
    command.addCommand(below);
  }
  return command;
}

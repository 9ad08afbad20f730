/** `uniknode webhooks`: manages the webhooks of a running node, hands them over, and imports webhooks of an old one. */
import { Command } from "commander";
import { deliveryCommands } from "./deliveries.ts";
import { testCommand } from "./dry-run.ts";
import { handOverCommand } from "./hand-over.ts";
import { importCommand } from "./import.ts";
import { registerCommands } from "./register.ts";

export function webhooksCommand(): Command {
  const command = new Command("webhooks");
  const others = [testCommand(), importCommand(), handOverCommand()];
  for (const below of [...registerCommands(), ...deliveryCommands(), ...others]) command.addCommand(below);
  return command;
}

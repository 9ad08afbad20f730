/** `uniknode completion`: prints a shell completion script. */
import { Argument, Command } from "commander";
import { scripts } from "./scripts.ts";
import { placesOf } from "./words.ts";

export const completionCommand = (createProgram: () => Promise<Command>): Command =>
  new Command("completion")
    .addArgument(new Argument("<shell>", "shell that runs the script").choices(Object.keys(scripts)))
    .action(async (shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell](placesOf(await createProgram())));
    });

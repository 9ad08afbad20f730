/** The program `uniknode`: its commands, and how it ends. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config/resolve.ts";
import { limitHeapGrowth } from "../lifecycle/heap.ts";
import { devCommand } from "./dev.ts";
import { listenCommand } from "./listen.ts";
import { runCommand } from "./run.ts";
import { versionCommand } from "./version.ts";

/** Exit codes: 0 done, 1 failed while working, 2 asked for something that makes no sense. */
export async function main(args: readonly string[]): Promise<number> {
  limitHeapGrowth();
  const program = new Command("uniknode")
    .description("A complete node of the Unikname Network.")
    .exitOverride()
    .showHelpAfterError("(--help shows what there is)")
    .addCommand(devCommand())
    .addCommand(runCommand())
    .addCommand(listenCommand())
    .addCommand(versionCommand());
  for (const command of program.commands)
    command.exitOverride().showHelpAfterError("(--help shows what there is)");
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  // Commander has written its own message already; asking for help is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`uniknode: ${message}\n`);
  if (error instanceof ConfigError) return 2;
  if (process.env.UNIKNODE_STACK) process.stderr.write(`${error instanceof Error ? error.stack : ""}\n`);
  return 1;
}

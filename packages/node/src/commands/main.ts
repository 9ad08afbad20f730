/** The program `uniknode`: its commands, and how it ends. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../platform/config-error.ts";
import { limitHeapGrowth } from "../platform/lifecycle/heap.ts";

/** By name. Loaded when asked for: a command that looks at a block has no use for a whole node. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import("./dev.ts")).devCommand(),
  run: async () => (await import("./run.ts")).runCommand(),
  listen: async () => (await import("./listen/command.ts")).listenCommand(),
  status: async () => (await import("./status.ts")).statusCommand(),
  block: async () => (await import("./block.ts")).blockCommand(),
  wallet: async () => (await import("./wallet.ts")).walletCommand(),
  unik: async () => (await import("./unik.ts")).unikCommand(),
  tx: async () => (await import("./tx/tx.ts")).txCommand(),
  forger: async () => (await import("./forger.ts")).forgerCommand(),
  rpc: async () => (await import("./rpc.ts")).rpcCommand(),
  snapshot: async () => (await import("./archive.ts")).snapshotCommand(),
  export: async () => (await import("./archive.ts")).exportCommand(),
  import: async () => (await import("./archive.ts")).importCommand(),
  webhooks: async () => (await import("./webhooks.ts")).webhooksCommand(),
  version: async () => (await import("./version.ts")).versionCommand(),
};

/** Exit codes: 0 done, 1 failed while working, 2 asked for something that makes no sense. */
export async function main(args: readonly string[]): Promise<number> {
  limitHeapGrowth();
  // A message that cannot be written is no reason to end otherwise.
  process.stderr.on("error", () => {});
  const program = new Command("uniknode").description("A complete node of the Unikname Network.");
  const asked = Object.entries(COMMANDS).filter(([name]) => name === args[0]);
  for (const [, load] of asked.length > 0 ? asked : Object.entries(COMMANDS)) {
    program.addCommand(await load());
  }
  leaveExitToMain(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return exitCodeOf(error);
  }
}

/** The program and all commands below it, at any depth. */
function leaveExitToMain(command: Command): void {
  command.exitOverride().showHelpAfterError("(--help shows what there is)");
  for (const below of command.commands) leaveExitToMain(below);
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

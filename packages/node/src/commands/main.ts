/** The program `uniknode`: its commands and exit codes. */
import { Command, CommanderError } from "commander";
import { limitHeapGrowth } from "../platform/lifecycle/heap.ts";
import { describeFailure } from "./failure.ts";

/** Commands by name, loaded on demand: a command that shows a block does not need a whole node. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => (await import("./dev.ts")).devCommand(),
  run: async () => (await import("./run.ts")).runCommand(),
  init: async () => (await import("./init.ts")).initCommand(),
  token: async () => (await import("./token.ts")).tokenCommand(),
  accounts: async () => (await import("./accounts.ts")).accountsCommand(),
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

/** Exit codes: 0 success, 1 failure, 2 invalid arguments or options. */
export async function main(args: readonly string[]): Promise<number> {
  limitHeapGrowth();
  // A closed standard error must not change the exit code.
  process.stderr.on("error", () => {});
  const program = new Command("uniknode").description("A complete node of the Unikname Network.");
  const asked = Object.entries(COMMANDS).filter(([name]) => name === args[0]);
  for (const [, load] of asked.length > 0 ? asked : Object.entries(COMMANDS)) {
    program.addCommand(await load());
  }
  overrideExit(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return toExitCode(error);
  }
}

/** Lets `main` choose the exit code, for the program and all its subcommands. */
function overrideExit(command: Command): void {
  command.exitOverride().showHelpAfterError("(--help lists the commands and options)");
  for (const below of command.commands) overrideExit(below);
}

function toExitCode(error: unknown): number {
  // Commander has already written its message; --help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { text, exitCode } = describeFailure(error, Boolean(process.env.UNIKNODE_STACK));
  process.stderr.write(text);
  return exitCode;
}

/** All commands of the program: group in the help, examples, and module. */
import { Command } from "commander";
import { versionLine } from "../platform/lifecycle/program.ts";
import { EXAMPLES } from "./examples.ts";

type CommandEntry = {
  readonly name: keyof typeof EXAMPLES;
  readonly group: Group;
  /** Follows the name in the list of commands. */
  readonly usage: string;
  readonly description: string;
  /** Called by programs and hidden in the help. */
  readonly isHidden?: true;
  /**
   * Loads the module on demand: a command that shows a block does not need a whole node. A command that describes all others gets
   * the function that creates the program.
   */
  readonly load: (createProgram: () => Promise<Command>) => Promise<Command>;
};

export const GROUPS = [
  "Start:",
  "Webhooks and events:",
  "Inspect a chain:",
  "Wallets and transactions:",
  "Operate a node:",
  "About this program:",
] as const;
export type Group = (typeof GROUPS)[number];
const [START, WEBHOOKS, LOOK, WALLETS, OPERATE, PROGRAM] = GROUPS;

const ENTRIES: readonly CommandEntry[] = [
  {
    name: "dev",
    usage: "[options]",
    description: "start a forging chain with funded accounts, for development",
    group: START,
    load: async () => (await import("./node.ts")).devCommand(),
  },
  {
    name: "run",
    usage: "[options]",
    description: "start a node of a network",
    group: START,
    load: async () => (await import("./node.ts")).runCommand(),
  },
  {
    name: "init",
    usage: "[options] <folder>",
    description: "create a small project that receives webhooks, with a test on a dev chain",
    group: START,
    load: async () => (await import("./init.ts")).initCommand(),
  },
  {
    name: "mirror",
    usage: "[options]",
    description: "copy the chain of a node into PostgreSQL, and follow it",
    group: START,
    load: async () => (await import("./mirror.ts")).mirrorCommand(),
  },
  {
    name: "serve",
    usage: "[options]",
    description: "serve the public API from the database of a mirror",
    group: START,
    load: async () => (await import("./mirror.ts")).serveCommand(),
  },
  {
    name: "deliver",
    usage: "[options]",
    description: "send webhooks from the database of a mirror",
    group: START,
    load: async () => (await import("./mirror.ts")).deliverCommand(),
  },
  {
    name: "witness",
    usage: "[options] <url...>",
    description: "sign the checkpoints of nodes whose trees of facts agree",
    group: START,
    load: async () => (await import("./witness.ts")).witnessCommand(),
  },
  {
    name: "network",
    usage: "",
    description: "create your own network",
    group: START,
    load: async () => (await import("./network.ts")).networkCommand(),
  },
  {
    name: "webhooks",
    usage: "",
    description: "manage the webhooks of a node",
    group: WEBHOOKS,
    load: async () => (await import("./webhooks/command.ts")).webhooksCommand(),
  },
  {
    name: "trigger",
    usage: "[options] [event]",
    description: "cause an event on a dev chain with a real operation, and show its delivery",
    group: WEBHOOKS,
    load: async () => (await import("./trigger/command.ts")).triggerCommand(),
  },
  {
    name: "listen",
    usage: "[options]",
    description: "receive webhooks in the terminal and verify them",
    group: WEBHOOKS,
    load: async () => (await import("./listen/command.ts")).listenCommand(),
  },
  {
    name: "conform",
    usage: "[options] [url]",
    description:
      "play the deliveries of a node against your receiver: duplicates, retractions, forgeries, restarts",
    group: WEBHOOKS,
    load: async () => (await import("./conform/command.ts")).conformCommand(),
  },
  {
    name: "status",
    usage: "[options]",
    description: "show the status of a node and its chain",
    group: LOOK,
    load: async () => (await import("./inspect.ts")).statusCommand(),
  },
  {
    name: "block",
    usage: "[options] [id]",
    description: "show a block",
    group: LOOK,
    load: async () => (await import("./inspect.ts")).blockCommand(),
  },
  {
    name: "checkpoint",
    usage: "[options]",
    description: "print a checkpoint of a node that you trust, to verify proofs of other nodes",
    group: LOOK,
    load: async () => (await import("./inspect.ts")).checkpointCommand(),
  },
  {
    name: "unik",
    usage: "[options] <id>",
    description: "show a unik and its properties",
    group: LOOK,
    load: async () => (await import("./inspect.ts")).unikCommand(),
  },
  {
    name: "accounts",
    usage: "[options]",
    description:
      "show the accounts of a dev chain, with passphrases, delegates and uniks; also while the chain runs",
    group: LOOK,
    load: async () => (await import("./accounts.ts")).accountsCommand(),
  },
  {
    name: "wallet",
    usage: "",
    description: "create and show wallets",
    group: WALLETS,
    load: async () => (await import("./wallet.ts")).walletCommand(),
  },
  {
    name: "tx",
    usage: "",
    description: "build, sign and send transactions",
    group: WALLETS,
    load: async () => (await import("./tx/tx.ts")).txCommand(),
  },
  {
    name: "config",
    usage: "",
    description: "show every option with its value and origin: default, file, environment or argument",
    group: OPERATE,
    load: async (createProgram) => (await import("./config.ts")).configCommand(createProgram),
  },
  {
    name: "doctor",
    usage: "[options]",
    description:
      "check clock, disk, ports, limits, runtime, genesis block, delegate keys, peers and data folder, or the database of a mirror; accepts the options of run",
    group: OPERATE,
    load: async () => (await import("./doctor/command.ts")).doctorCommand(),
  },
  {
    name: "console",
    usage: "[options]",
    description: "print a one-time link that opens the console and signs in; valid for ten minutes",
    group: OPERATE,
    load: async () => (await import("./console.ts")).consoleCommand(),
  },
  {
    name: "token",
    usage: "[options]",
    description: "print the webhook token that a node generated on its first start; also while the node runs",
    group: OPERATE,
    load: async () => (await import("./token.ts")).tokenCommand(),
  },
  {
    name: "forger",
    usage: "",
    description: "inspect the forger of this node",
    group: OPERATE,
    load: async () => (await import("./forger.ts")).forgerCommand(),
  },
  {
    name: "rpc",
    usage: "[options]",
    description: "serve JSON-RPC for exchanges, as a client of a node",
    group: OPERATE,
    load: async () => (await import("./rpc.ts")).rpcCommand(),
  },
  {
    name: "snapshot",
    usage: "",
    description: "create, restore and verify snapshots of a chain",
    group: OPERATE,
    load: async () => (await import("./archive.ts")).snapshotCommand(),
  },
  {
    name: "export",
    usage: "[options] [FILE]",
    description: "write the blocks of a data folder as a stream; also while the node runs",
    group: OPERATE,
    load: async () => (await import("./archive.ts")).exportCommand(),
  },
  {
    name: "import",
    usage: "[options] [FILE]",
    description: "verify and execute the blocks of a stream; resumes an interrupted import",
    group: OPERATE,
    load: async () => (await import("./archive.ts")).importCommand(),
  },
  {
    name: "completion",
    usage: "<shell>",
    description: "print a shell completion script for commands and options",
    group: PROGRAM,
    load: async (createProgram) => (await import("./completion.ts")).completionCommand(createProgram),
  },
  {
    name: "complete",
    usage: "<what> [words...]",
    description:
      "print the values that complete a command line, one per line; nothing if the node does not respond",
    group: PROGRAM,
    isHidden: true,
    load: async () => (await import("./complete.ts")).completeCommand(),
  },
  {
    name: "version",
    usage: "",
    description: "print the versions of the protocol, the program and its runtime",
    group: PROGRAM,
    load: async () => {
      const { printText } = await import("./print.ts");
      return new Command("version").action(() => printText(versionLine()));
    },
  },
];

export const COMMANDS = ENTRIES.map((entry) => ({
  ...entry,
  /** Complete command lines: at least one for the command and each subcommand. */
  examples: EXAMPLES[entry.name] as readonly string[],
}));

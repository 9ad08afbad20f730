/** All commands of the program: group in the help, examples, and module. */
import type { Command } from "commander";

export type CommandEntry = {
  readonly name: string;
  readonly group: Group;
  /** Complete command lines: at least one for the command and each subcommand. */
  readonly examples: readonly string[];
  /** Called by programs and hidden in the help. */
  readonly isHidden?: true;
  /**
   * Loaded on demand: a command that shows a block does not need a whole node. A command that describes all others gets
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

/** Passphrases come from a file, the environment or a prompt, never from arguments. */
const TX_EXAMPLES = [
  'uniknode tx transfer ADDRESS 12.5 --vendor-field "rent for May" --wait',
  "uniknode tx multi-payment ADDRESS=1 ADDRESS=2.5",
  "uniknode tx vote DELEGATE --wait",
  "uniknode tx unvote --wait",
  "uniknode tx mint UNIK individual --property usr/shape=round",
  "uniknode tx update UNIK --property usr/color=red --remove usr/shape",
  "uniknode tx transfer-unik UNIK ADDRESS",
  "uniknode tx disclose UNIK NAME --factory FACTORY",
  "uniknode tx register-delegate --passphrase-file FILE",
  "uniknode tx resign-delegate --passphrase-file FILE",
  "uniknode tx second-signature --second-passphrase-file FILE",
  "uniknode tx lock ADDRESS 2 SECRETHASH --until-height HEIGHT",
  "uniknode tx claim LOCK SECRET",
  "uniknode tx refund LOCK",
  "uniknode tx ipfs HASH",
  "uniknode tx post signed.json --wait",
  "uniknode tx show ID",
];

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "dev",
    group: START,
    examples: ["uniknode dev", "uniknode dev --instant --accounts 20 --reset"],
    load: async () => (await import("./servers/dev.ts")).devCommand(),
  },
  {
    name: "run",
    group: START,
    examples: ["uniknode run --network livenet", "uniknode run --network-dir my-network"],
    load: async () => (await import("./servers/run.ts")).runCommand(),
  },
  {
    name: "init",
    group: START,
    examples: ["uniknode init my-app", "uniknode init my-app --packages release"],
    load: async () => (await import("./init.ts")).initCommand(),
  },
  {
    name: "mirror",
    group: START,
    examples: [
      "uniknode mirror --token TOKEN --database-url postgres://uniknode@127.0.0.1/uniknode",
      "uniknode mirror --node http://192.0.2.1:4003 --token TOKEN --database-url URL --name mirror-1",
    ],
    load: async () => (await import("./servers/mirror.ts")).mirrorCommand(),
  },
  {
    name: "serve",
    group: START,
    examples: [
      "uniknode serve --token TOKEN --database-url postgres://uniknode@127.0.0.1/uniknode --http-port 4004",
      "uniknode serve --node http://192.0.2.1:4003,http://192.0.2.2:4003 --token TOKEN --database-url URL",
    ],
    load: async () => (await import("./servers/serve.ts")).serveCommand(),
  },
  {
    name: "deliver",
    group: START,
    examples: [
      "uniknode deliver --database-url postgres://uniknode@127.0.0.1/uniknode",
      "uniknode deliver --database-url URL --name worker-1 --operations-port 4021 --webhook-key-file FILE",
    ],
    load: async () => (await import("./servers/deliver.ts")).deliverCommand(),
  },
  {
    name: "network",
    group: START,
    examples: [
      "uniknode network init my-network",
      "uniknode network init my-network --name my-network --nodes 2",
    ],
    load: async () => (await import("./network.ts")).networkCommand(),
  },
  {
    name: "webhooks",
    group: WEBHOOKS,
    examples: [
      "uniknode webhooks list",
      "uniknode webhooks show 1",
      'uniknode webhooks create http://127.0.0.1:8000/ --event transaction.applied --condition "amount gte 100000000"',
      "uniknode webhooks create nats://127.0.0.1:4222/chain.blocks --event block.applied --order strict",
      "uniknode webhooks update 1 --event block.applied",
      "uniknode webhooks pause 1",
      "uniknode webhooks resume 1",
      "uniknode webhooks delete 1",
      "uniknode webhooks rotate 1 --overlap 3600",
      "uniknode webhooks ping 1",
      "uniknode webhooks deliveries 1 --state failed",
      "uniknode webhooks deliveries 1 12 --json",
      "uniknode webhooks retry 1 12",
      "uniknode webhooks retry 1 --all-failed",
      "uniknode webhooks replay 1 --from 100 --to 200",
      "uniknode webhooks test --event block.applied --blocks 10",
      "uniknode webhooks import webhooks.json --data .uniknode/data",
      "uniknode webhooks hand-over --to workers --token TOKEN --database-url URL",
      "uniknode webhooks hand-over --to node --token TOKEN --database-url URL",
    ],
    load: async () => (await import("./webhooks/command.ts")).webhooksCommand(),
  },
  {
    name: "trigger",
    group: WEBHOOKS,
    examples: [
      "uniknode trigger --list",
      "uniknode trigger unik.minted",
      "uniknode trigger block.reverted --json",
    ],
    load: async () => (await import("./trigger/command.ts")).triggerCommand(),
  },
  {
    name: "listen",
    group: WEBHOOKS,
    examples: [
      "uniknode listen",
      'uniknode listen --event "transaction.*" --condition "amount gte 100000000"',
      "uniknode listen --event block.applied --status 503",
      "uniknode listen --json",
    ],
    load: async () => (await import("./listen/command.ts")).listenCommand(),
  },
  {
    name: "status",
    group: LOOK,
    examples: ["uniknode status", "uniknode status --url http://127.0.0.1:4003 --json"],
    load: async () => (await import("./status.ts")).statusCommand(),
  },
  {
    name: "block",
    group: LOOK,
    examples: ["uniknode block", "uniknode block 1"],
    load: async () => (await import("./block.ts")).blockCommand(),
  },
  {
    name: "unik",
    group: LOOK,
    examples: ["uniknode unik UNIK"],
    load: async () => (await import("./unik.ts")).unikCommand(),
  },
  {
    name: "accounts",
    group: LOOK,
    examples: ["uniknode accounts", "uniknode accounts --json"],
    load: async () => (await import("./accounts.ts")).accountsCommand(),
  },
  {
    name: "wallet",
    group: WALLETS,
    examples: [
      "uniknode wallet new --network livenet",
      "uniknode wallet address --passphrase-file FILE",
      "uniknode wallet show ADDRESS",
    ],
    load: async () => (await import("./wallet.ts")).walletCommand(),
  },
  {
    name: "tx",
    group: WALLETS,
    examples: TX_EXAMPLES,
    load: async () => (await import("./tx/tx.ts")).txCommand(),
  },
  {
    name: "config",
    group: OPERATE,
    examples: [
      "uniknode config dev",
      "uniknode config run --config node.json --check",
      "uniknode config run --json",
    ],
    load: async (createProgram) => (await import("./config/command.ts")).configCommand(createProgram),
  },
  {
    name: "doctor",
    group: OPERATE,
    examples: [
      "uniknode doctor",
      "uniknode doctor --network livenet --data .uniknode/data",
      "uniknode doctor --database-url postgres://127.0.0.1/uniknode",
    ],
    load: async () => (await import("./doctor/command.ts")).doctorCommand(),
  },
  {
    name: "console",
    group: OPERATE,
    examples: ["uniknode console", "uniknode console --url http://192.0.2.7:4003 --token TOKEN"],
    load: async () => (await import("./console.ts")).consoleCommand(),
  },
  {
    name: "token",
    group: OPERATE,
    examples: ["uniknode token", "uniknode token --data .uniknode/data"],
    load: async () => (await import("./access/token.ts")).tokenCommand(),
  },
  {
    name: "forger",
    group: OPERATE,
    examples: ["uniknode forger why --data .uniknode/data", "uniknode forger why --slot 1200"],
    load: async () => (await import("./forger.ts")).forgerCommand(),
  },
  {
    name: "rpc",
    group: OPERATE,
    examples: ["uniknode rpc --url http://127.0.0.1:4003"],
    load: async () => (await import("./servers/rpc.ts")).rpcCommand(),
  },
  {
    name: "snapshot",
    group: OPERATE,
    examples: [
      "uniknode snapshot create --data .uniknode/data --output backup",
      "uniknode snapshot verify backup --network livenet --genesis genesisBlock.json --execute",
      "uniknode snapshot verify dev-backup --dev-chain .uniknode/dev --execute",
      "uniknode snapshot restore dev-backup --data other --dev-chain .uniknode/dev",
      "uniknode snapshot restore backup --data other --network livenet --genesis genesisBlock.json",
    ],
    load: async () => (await import("./archive.ts")).snapshotCommand(),
  },
  {
    name: "export",
    group: OPERATE,
    examples: ["uniknode export blocks.stream --network-dir my-network --from 2 --to 1000"],
    load: async () => (await import("./archive.ts")).exportCommand(),
  },
  {
    name: "import",
    group: OPERATE,
    examples: ["uniknode import blocks.stream --data other --network-dir my-network"],
    load: async () => (await import("./archive.ts")).importCommand(),
  },
  {
    name: "completion",
    group: PROGRAM,
    examples: [
      'eval "$(uniknode completion bash)"',
      'uniknode completion zsh > "$fpath[1]/_uniknode"',
      "uniknode completion fish > ~/.config/fish/completions/uniknode.fish",
    ],
    load: async (createProgram) => (await import("./completion/command.ts")).completionCommand(createProgram),
  },
  {
    name: "complete",
    group: PROGRAM,
    examples: ["uniknode complete webhooks -- webhooks show"],
    isHidden: true,
    load: async () => (await import("./completion/values.ts")).completeCommand(),
  },
  {
    name: "version",
    group: PROGRAM,
    examples: ["uniknode version"],
    load: async () => (await import("./version.ts")).versionCommand(),
  },
];

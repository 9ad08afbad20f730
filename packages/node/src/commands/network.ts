/**
 * `uniknode network init`: creates a private network, and writes its rules, its genesis block, and the keys of its delegates and
 * first accounts to a folder.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { generateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { blockToJson, type GenesisDraft, type NetworkFiles } from "@uniknode/protocol";
import { Command } from "commander";
import { optionTable, readInteger, readText } from "../config/define-option.ts";
import { devOptions } from "../config/options.ts";
import { deriveAccounts } from "../dev-chain/keys.ts";
import {
  type Cast,
  castOf,
  DEV_ADDRESS_VERSION,
  devDescription,
  devMilestones,
  genesisOf,
  START_BALANCE,
} from "../dev-chain/network.ts";
import { showAccounts } from "../dev-chain/screen.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { commandLine } from "../platform/lifecycle/program.ts";
import { fillNewFolder } from "../store/engine/new-folder.ts";
import { addFlags, readConfig } from "./flags.ts";
import { printText } from "./print.ts";

/** Number of delegates of the first rounds; each node needs at least one. */
const MAX_NODES = 6;

const options = optionTable({
  name: {
    variable: "UNIKNODE_NETWORK_NAME",
    placeholder: "NAME",
    sentence:
      "Name of the network: at most 20 lower-case letters, digits and hyphens; my-network and a number if not given.",
    read: readName,
  },
  nodes: {
    variable: "UNIKNODE_NETWORK_NODES",
    placeholder: "N",
    sentence: "Number of forging nodes; each gets a file with its share of the six delegates.",
    default: 1,
    read: readInteger(1, MAX_NODES),
  },
  blockTime: { ...devOptions.blockTime, default: 8 },
  accounts: devOptions.accounts,
});

const NETWORK_FOLDER = {
  what: "the network folder",
  flag: "uniknode network init FOLDER",
  isOwn: (path: string) =>
    /^(accounts|delegates-\d|exceptions|genesisBlock|milestones|network)\.json(\.part)?$/.test(path),
  last: "network.json",
};

export function networkCommand(): Command {
  const command = new Command("network");
  const init = command
    .command("init")
    .description(
      "create a folder for --network-dir with rules, genesis block, and keys of delegates and accounts",
    )
    .argument("<folder>", "a new or empty folder");
  addFlags(init, options).action(async (folder: string) => {
    const {
      name = `my-network-${randomInt(1_000_000)}`,
      nodes,
      blockTime,
      accounts,
    } = readConfig(init, options);
    const network = createOwnNetwork({
      name,
      blockTimeSeconds: blockTime,
      accounts,
      mnemonic: generateMnemonic(wordlist),
    });
    const delegateFiles = await fillNewFolder(folder, NETWORK_FOLDER, () =>
      writeNetwork(folder, network, nodes),
    );
    printText(report(folder, network.files.network, delegateFiles));
  });
  return command;
}

const report = (
  folder: string,
  { name, nethash }: { readonly name: string; readonly nethash: string },
  delegateFiles: readonly string[],
): string =>
  [
    `Network ${name}, nethash ${nethash}`,
    "",
    `${folder}: network.json, milestones.json, exceptions.json and genesisBlock.json are for every node;`,
    `accounts.json and ${delegateFiles.join(", ")} contain secret keys: keep each where only its node can read it.`,
    "",
    "Start a node that forges:",
    ...delegateFiles.map(
      (file) =>
        `  ${commandLine(process.env, "run", "--network-dir", folder, "--delegates", join(folder, file), "--data", join(folder, file.replace("delegates", "data").replace(".json", "")))}`,
    ),
    "",
    "To connect nodes, give --peers ADDRESS (docs/guides/own-network.md).",
  ].join("\n");

/** File mode: readable by the owner only. */
const SECRET_MODE = 0o600;

/**
 * Writes the keys first: a folder that nodes accept has the keys of its network.
 *
 * @returns the names of the files with the passphrases of delegates
 */
function writeNetwork(folder: string, { files, block, cast, mnemonic }: OwnNetwork, nodes: number): string[] {
  const write = (name: string, content: unknown, mode = 0o644) =>
    writeWholeFile(join(folder, name), `${JSON.stringify(content, null, 2)}\n`, mode);
  const balances = new Set([...cast.accounts, cast.factory, cast.foundation].map(({ address }) => address));
  const balanceOf = (address: string) => (balances.has(address) ? START_BALANCE : undefined);
  write("accounts.json", showAccounts({ cast, mnemonic, balanceOf }), SECRET_MODE);
  const delegateFiles = dealDelegates(cast, nodes).map((secrets, index) => {
    const file = `delegates-${index + 1}.json`;
    write(file, { secrets }, SECRET_MODE);
    return file;
  });
  write("milestones.json", files.milestones);
  write("exceptions.json", files.exceptions);
  write("genesisBlock.json", blockToJson(block));
  write(NETWORK_FOLDER.last, files.network);
  return delegateFiles;
}

/** Reads a name; peers refuse a status with a longer one (p2p.md 7.2). */
function readName(value: unknown): string {
  const text = readText(value);
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(text)) {
    throw new Error("lower-case letters, digits and hyphens are expected, 20 at most, a letter first");
  }
  return text;
}

/** Nodes of the reference refuse a longer symbol and an empty explorer (networks.md 1). */
const CLIENT = { token: "ownunik", symbol: "OUNIK", explorer: "http://127.0.0.1:4003/console/" };

type OwnNetworkOptions = {
  /** Lower-case letters, digits and hyphens; 20 at most. */
  readonly name: string;
  readonly blockTimeSeconds: number;
  /** Funded accounts. */
  readonly accounts: number;
  /** Mnemonic from which every key is derived. */
  readonly mnemonic: string;
};

type OwnNetwork = ReturnType<typeof genesisOf> & { readonly cast: Cast; readonly mnemonic: string };

/** Creates a network with the rules of a dev chain, and its own keys, name and nethash. */
function createOwnNetwork({ name, blockTimeSeconds, accounts, mnemonic }: OwnNetworkOptions): OwnNetwork {
  const cast = castOf(deriveAccounts(mnemonic, DEV_ADDRESS_VERSION), accounts);
  const files: GenesisDraft["files"] & NetworkFiles = {
    network: { ...devDescription(cast), name, messagePrefix: `${name} message:\n`, client: CLIENT },
    milestones: devMilestones(blockTimeSeconds),
    exceptions: {},
  };
  return { ...genesisOf(cast, files), cast, mnemonic };
}

/** Distributes the passphrases of the delegates among nodes in turn. */
const dealDelegates = ({ founders }: Cast, nodes: number): string[][] =>
  Array.from({ length: nodes }, (_, node) =>
    founders.filter((_founder, index) => index % nodes === node).map(({ passphrase }) => passphrase),
  );

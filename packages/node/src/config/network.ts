/** The network that `uniknode run` joins: from a folder of files, or a known network with its genesis file. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Block,
  createNetwork,
  genesisBlockFromJson,
  type NetworkFiles,
  networkFilesFromJson,
  presets,
} from "@uniknode/protocol";
import { ConfigError } from "../platform/coded-error.ts";
import { JSON_OBJECT, readJsonFile, type TextBounds } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";
import { present } from "../platform/present.ts";

/** A network, its genesis block, and the JSON content of the genesis file. */
export type NetworkSource = {
  readonly files: NetworkFiles;
  readonly genesis: Block;
  readonly genesisBlock: Record<string, unknown>;
};

export type NetworkChoice = {
  readonly network?: string | undefined;
  readonly genesis?: string | undefined;
  readonly networkDir?: string | undefined;
};

/** Returns the path of the genesis file that a start fetches from peers and stores in the data folder. */
export const fetchedGenesisIn = (data: string): string => join(data, "genesisBlock.json");

/** Returns true if `run` needs no genesis file of the operator: the data folder has one, or peers can send it. */
export const fetchesGenesis = (
  { network, genesis, networkDir }: NetworkChoice,
  { data, alone }: { readonly data: string; readonly alone: boolean },
): boolean =>
  network !== undefined &&
  genesis === undefined &&
  networkDir === undefined &&
  (!alone || existsSync(fetchedGenesisIn(data)));

/**
 * Reads the network that the options select.
 *
 * @throws {ConfigError} when no network is selected, the options contradict each other, a file is missing, or the
 *   genesis block belongs to another network
 * @throws {NetworkError} when a file has a wrong member
 */
export function loadNetwork({ network, genesis, networkDir }: NetworkChoice): NetworkSource {
  if (networkDir !== undefined) {
    if (network !== undefined || genesis !== undefined) {
      throw new ConfigError(
        "--network-dir contains its own network and genesis block: omit --network and --genesis",
      );
    }
    return fromFolder(networkDir);
  }
  if (network === undefined) {
    throw new ConfigError(
      "no network selected: give --network-dir DIR, or --network NAME with --genesis FILE",
    );
  }
  const files = present(presets[network], network);
  if (genesis === undefined) {
    throw new ConfigError(
      `the genesis block of --network ${network} is missing: give --genesis FILE, the genesisBlock.json of ` +
        `${network} (its payloadHash is ${files.network.nethash})`,
    );
  }
  return { files, ...readGenesis(genesis, files) };
}

function fromFolder(folder: string): NetworkSource {
  const pathOf = (name: string) => join(folder, name);
  const missing = ["network.json", "milestones.json", "genesisBlock.json"].filter(
    (name) => !existsSync(pathOf(name)),
  );
  if (missing.length > 0) {
    throw new ConfigError(
      `--network-dir ${folder}: ${missing.join(" and ")} missing; give a folder that "uniknode network init" created`,
    );
  }
  const exceptions = pathOf("exceptions.json");
  const files = networkFilesFromJson({
    network: readJson(pathOf("network.json")),
    milestones: readJson(pathOf("milestones.json")),
    exceptions: existsSync(exceptions) ? readJson(exceptions) : {},
  });
  return { files, ...readGenesis(pathOf("genesisBlock.json"), files) };
}

/** A genesis block can have a million transactions. */
const NETWORK_BOUNDS: TextBounds = { maxCharacters: 2 ** 29, maxDepth: 64, maxValues: 2 ** 25 };

const GENESIS_FILE = {
  purpose: "genesis file",
  form: JSON_OBJECT,
  remedy: "give the genesisBlock.json of the network",
  bounds: NETWORK_BOUNDS,
};

/** `networkFilesFromJson` checks the members. */
const NETWORK_FILE = {
  purpose: "network file",
  form: formOf(Type.Unknown()),
  remedy: "correct it, or choose another folder with --network-dir",
  bounds: NETWORK_BOUNDS,
};

/** Reads a genesis file and checks that it belongs to the network. */
function readGenesis(path: string, files: NetworkFiles): Pick<NetworkSource, "genesis" | "genesisBlock"> {
  const genesisBlock = readJsonFile(path, GENESIS_FILE);
  const { nethash, name } = files.network;
  // It is checked first: the file of another network may also fail in other ways, with a less helpful message.
  if (genesisBlock.payloadHash !== nethash) {
    throw new ConfigError(
      `genesis file ${path}: its payloadHash is ${genesisBlock.payloadHash}, but the nethash of ${name} is ` +
        `${nethash}; use the genesis block of ${name}`,
    );
  }
  try {
    return { genesis: genesisBlockFromJson(genesisBlock, createNetwork(files)), genesisBlock };
  } catch (error) {
    throw new ConfigError(`genesis file ${path}: ${(error as Error).message}`);
  }
}

const readJson = (path: string): unknown => readJsonFile(path, NETWORK_FILE);

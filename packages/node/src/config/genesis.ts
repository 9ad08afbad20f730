/** The genesis file of a known network, from other nodes where none is given. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { presets } from "@uniknode/protocol";
import { localAddressOf } from "../peers/options.ts";
import { fetchGenesis } from "../peers/sync/genesis.ts";
import { ConfigError } from "../platform/config-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { FOLDER_MODE } from "../store/engine/folder-lock.ts";
import type { NetworkChoice } from "./network.ts";
import type { peerOptions } from "./peers.ts";
import { peersOptionsOf } from "./peers.ts";
import type { Config } from "./resolve.ts";

export type GenesisChoice = NetworkChoice &
  Config<typeof peerOptions> & { readonly data: string; readonly alone: boolean };

const FILE = "genesisBlock.json";

/**
 * Path of the genesis file: the one given, or the one that an earlier start has put into the data folder, or one that
 * is fetched and put there. Undefined where the choice of network needs none, or nobody may be asked.
 *
 * @throws {ConfigError} when nobody has it to give
 */
export async function genesisPath(choice: GenesisChoice): Promise<string | undefined> {
  const { network, genesis, networkDir, data, alone } = choice;
  if (genesis !== undefined || network === undefined || networkDir !== undefined) return genesis;
  const path = join(data, FILE);
  if (existsSync(path)) return path;
  if (alone) return undefined;
  const files = presets[network]!;
  const options = peersOptionsOf(choice, network);
  const json = await fetchGenesis({ ...options, localAddress: localAddressOf(options) }, files);
  if (!json) {
    throw new ConfigError(
      `none of ${options.seeds.join(", ") || "no peers"} gives the genesis block of ${network}: give --genesis FILE ` +
        `(its payloadHash is ${files.network.nethash}), or --peers with a node of this kind`,
    );
  }
  mkdirSync(data, { recursive: true, mode: FOLDER_MODE });
  // Later starts take whatever is there for the genesis block.
  writeWholeFile(path, JSON.stringify(json));
  return path;
}

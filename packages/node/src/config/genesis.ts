/** The genesis file of a known network, fetched from peers when none is given. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createNetwork, presets } from "@uniknode/protocol";
import { refuseOtherNetwork } from "../chain/genesis.ts";
import { localAddressOf } from "../peers/peers-options.ts";
import { fetchGenesis } from "../peers/sync/genesis.ts";
import { ConfigError } from "../platform/config-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { present } from "../platform/present.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";
import type { NetworkChoice } from "./network.ts";
import { type peerOptions, toPeersOptions } from "./peers.ts";
import type { Config } from "./resolve.ts";

export type GenesisChoice = NetworkChoice &
  Config<typeof peerOptions> & { readonly data: string; readonly alone: boolean };

const FILE = "genesisBlock.json";

/**
 * Returns the path of the genesis file: the given file, the file that an earlier start stored in the data
 * folder, or a new one that is fetched from peers and stored there. Undefined if the chosen network needs
 * none, or `alone` forbids peers.
 *
 * @throws {ConfigError} when no peer sends it
 * @throws {DataInUseError | ChainError} if the folder is in use or has the chain of another network
 * @throws the reason of `signal` when it is aborted meanwhile
 */
export async function genesisPath(choice: GenesisChoice, signal: AbortSignal): Promise<string | undefined> {
  const { network, genesis, networkDir, data, alone } = choice;
  if (genesis !== undefined || network === undefined || networkDir !== undefined) return genesis;
  const path = join(data, FILE);
  if (existsSync(path)) return path;
  if (alone) return undefined;
  const files = present(presets[network], network);
  const options = toPeersOptions(choice, network);
  const json = await fetchGenesis({ ...options, localAddress: localAddressOf(options) }, files, signal);
  signal.throwIfAborted();
  if (!json) {
    throw new ConfigError(
      `no peer sent the genesis block of ${network} (tried: ${options.seeds.join(", ") || "none"}): give --genesis FILE ` +
        `(its payloadHash is ${files.network.nethash}), or --peers with a Uniknode node`,
    );
  }
  const lock = lockDataFolder(data);
  try {
    refuseOtherNetwork(join(data, "node.sqlite"), createNetwork(files));
    // Later starts use this file unchanged.
    writeWholeFile(path, JSON.stringify(json));
  } finally {
    lock.release();
  }
  return path;
}

/** Converts the data folder of a restored or imported chain so that `uniknode dev` continues it. */
import { join } from "node:path";
import { createSlots, type Network } from "@uniknode/protocol";
import { refuseOtherNetwork } from "../chain/genesis.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { lockDataFolder } from "../store/engine/folder-lock.ts";
import { openReader } from "../store/engine/migrations.ts";
import { openClock } from "./clock.ts";
import { CLOCK_FILE, checkShape, claimFolder, readShape } from "./folder.ts";

/**
 * Stores the shape of the dev chain in the folder. Sets its clock to the clock of that chain or, if it is later, to the
 * time of the last block: a dev chain that was reset may have earlier blocks.
 *
 * @throws {ConfigError} when a file of either folder is damaged, or the folder has another shape
 * @throws {DataInUseError}
 * @throws {ChainError} CHAIN_NETWORK_MISMATCH
 */
export function adoptFolder(folder: string, devChain: string, network: Network): void {
  const shape = readShape(devChain);
  const lock = lockDataFolder(folder);
  try {
    refuseOtherNetwork(join(folder, "node.sqlite"), network);
    checkShape(folder, shape);
    claimFolder(folder, shape, network.description.nethash);
    const clock = openClock(join(folder, CLOCK_FILE));
    const { nowMs } = openClock(join(devChain, CLOCK_FILE));
    clock.moveTo(Math.max(nowMs(), headMs(folder, network)));
  } finally {
    lock.release();
  }
}

function headMs(folder: string, network: Network): number {
  const database = openReader(join(folder, "node.sqlite"));
  try {
    const head = createBlockStore(database).head();
    return head ? createSlots(network).unixMsOf(head.timestamp) : 0;
  } finally {
    database.close();
  }
}

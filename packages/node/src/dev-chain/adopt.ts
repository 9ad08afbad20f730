/** Converts the data folder of a restored or imported chain so that `uniknode dev` continues it. */
import { join } from "node:path";
import { createSlots, type Network } from "@uniknode/protocol";
import { createBlockStore } from "../store/chain/blocks.ts";
import { openReader } from "../store/engine/migrations.ts";
import { openClock } from "./clock.ts";
import { CLOCK_FILE, claimFolder, readShape } from "./folder.ts";

/**
 * Stores the shape of the dev chain in the folder. Sets its clock to the clock of that chain or, if it is later, to the
 * time of the last block: a dev chain that was reset may have earlier blocks.
 *
 * @throws {ConfigError} when a file of either folder is damaged, or the folder has another shape
 */
export function adoptFolder(folder: string, devChain: string, network: Network): void {
  claimFolder(folder, readShape(devChain));
  const clock = openClock(join(folder, CLOCK_FILE));
  const { nowMs } = openClock(join(devChain, CLOCK_FILE));
  clock.moveTo(Math.max(nowMs(), headMs(folder, network)));
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

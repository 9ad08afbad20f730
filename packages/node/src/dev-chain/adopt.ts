/** Makes the data folder of a restore or an import a dev chain, so that `uniknode dev` continues the copy. */
import { join } from "node:path";
import type { Network } from "@uniknode/protocol";
import { openClock } from "./clock.ts";
import { CLOCK_FILE, checkShape, claimFolder, readShape } from "./folder.ts";

/**
 * Stores the shape of the dev chain in the folder, and moves its clock forward to the clock of that chain. The caller must hold the
 * lock of the folder, and have checked that it has no chain of another network.
 *
 * @throws {ConfigError} when a file of either folder is damaged, or the folder has another shape
 */
export function adoptFolder(folder: string, devChain: string, network: Network): void {
  const shape = readShape(devChain);
  checkShape(folder, shape);
  claimFolder(folder, shape, network.description.nethash);
  const { nowMs } = openClock(join(devChain, CLOCK_FILE));
  openClock(join(folder, CLOCK_FILE)).moveTo(nowMs());
}

/** Creates a network from its files. */
import { checkDelegateCounts, mergeMilestones } from "./milestones.ts";
import type { Network, NetworkFiles } from "./network.ts";

/**
 * The network of the files. They are not checked: see `networkFilesFromJson` for untrusted ones.
 *
 * @throws {NetworkError} InvalidMilestoneConfigurationError if the number of delegates changes inside a round
 */
export function createNetwork(files: NetworkFiles): Network {
  checkDelegateCounts(files.milestones);
  const milestones = mergeMilestones(files.milestones);
  const heights = new Set(milestones.map((milestone) => milestone.height));
  return {
    description: files.network,
    exceptions: files.exceptions,
    milestones,
    milestoneAt: (height) => {
      // The last milestone not above the height; the first one also applies to every height below it.
      let low = 0;
      let high = milestones.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (milestones[middle]!.height <= height) low = middle;
        else high = middle - 1;
      }
      return milestones[low]!;
    },
    isMilestone: (height) => heights.has(height),
  };
}

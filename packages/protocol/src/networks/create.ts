/** Creates a network from its files. */
import { present } from "../present.ts";
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
    // The last milestone not above the height; the first one also applies to every height below it.
    milestoneAt: (height) =>
      milestones.findLast((milestone) => milestone.height <= height) ??
      present(milestones[0], "the first milestone"),
    isMilestone: (height) => heights.has(height),
  };
}

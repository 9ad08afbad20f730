/** Merges the changes in `milestones.json` into the parameters in force (networks.md 2). */
import { NetworkError } from "./error.ts";
import type { Milestone, MilestoneChange } from "./network.ts";

type Members = Record<string, unknown>;

/**
 * The merged milestones, ascending by height: each is the previous merged one with its own changes.
 * Two entries of one height stay two milestones; the later one has both changes.
 */
export function mergeMilestones(changes: readonly MilestoneChange[]): Milestone[] {
  let merged: Members = {};
  return changes
    .toSorted((a, b) => a.height - b.height)
    .map((change) => {
      merged = mergeMembers(merged, change);
      return merged as Milestone;
    });
}

/**
 * Refuses a change of `activeDelegates` that is not at the start of a round. The distance is measured from
 * the last entry with the number, even if it did not change it (state.md 1).
 *
 * @throws {NetworkError} InvalidMilestoneConfigurationError
 */
export function checkDelegateCounts(changes: readonly MilestoneChange[]): void {
  const naming = changes.filter((change) => change.activeDelegates).toSorted((a, b) => a.height - b.height);
  for (const [index, change] of naming.entries()) {
    const previous = naming[index - 1];
    if (!previous || previous.activeDelegates === change.activeDelegates) continue;
    if ((change.height - previous.height) % Number(previous.activeDelegates) !== 0) {
      throw new NetworkError(
        "InvalidMilestoneConfigurationError",
        `Bad milestone at height: ${change.height}. The number of delegates can only be changed at the beginning of a new round.`,
      );
    }
  }
}

/** Objects merge member by member at any depth; other values are replaced. */
function mergeMembers(base: Members, change: Members): Members {
  const changed = Object.entries(change).map(([name, value]): [string, unknown] => {
    const before = base[name];
    return [name, isObject(value) ? mergeMembers(isObject(before) ? before : {}, value) : value];
  });
  return Object.fromEntries([...Object.entries(base), ...changed]);
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

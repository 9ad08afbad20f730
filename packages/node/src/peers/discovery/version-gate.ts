/** Checks the version that a peer announces (p2p.md 10.5). */
import type { Network } from "@uniknode/protocol";
import { parseRange, parseVersion } from "../versions.ts";

/** Ranges for networks whose milestones have none. */
const DEFAULT_RANGES = ["^2.6", "^2.6.0-next.0", "^2.7", "^2.7.0-next.0"];

/** Returns the ranges of versions allowed at a height; a version must match one of them. */
export const allowedVersions = (network: Network, height: number): readonly string[] =>
  network.milestoneAt(height).p2p?.minimumVersions ?? DEFAULT_RANGES;

/** @param networkName pre-releases count on every network that is not called `mainnet` */
export function isVersionAllowed(text: string, ranges: readonly string[], networkName: string): boolean {
  const version = parseVersion(text);
  if (!version) return false;
  const options = { includesPreReleases: networkName !== "mainnet" };
  return ranges.some((range) => parseRange(range, options)?.test(version) ?? false);
}

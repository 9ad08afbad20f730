/**
 * Parses the software versions that peers announce, and ranges of them, like old nodes (p2p.md 10.5), which use node-semver
 * before its release 7.2.
 */
import type { Network } from "@uniknode/protocol";
// Imports single modules: the main entry would load all of them.
import Range from "semver/classes/range.js";
import type SemVer from "semver/classes/semver.js";
import parse from "semver/functions/parse.js";

/** Clients can send ranges, and the time of the library grows with the square of their length. */
const MAX_RANGE_LENGTH = 256;

export type Version = SemVer;

/** Returns undefined for invalid versions. */
export const parseVersion = (text: string): Version | undefined => parse(text) ?? undefined;

/** Returns a text that sorts by code unit like the version; undefined for an invalid version. */
export function versionKey(text: string): string | undefined {
  const version = parseVersion(text);
  if (!version) return undefined;
  const { major, minor, patch, prerelease } = version;
  const padded = (number: number) => `${number}`.padStart(16, "0");
  const labels = prerelease.map((label) => (typeof label === "number" ? `0${padded(label)}` : `1${label}`));
  // A pre-release comes before its release, and no character of a label before the separator.
  return [...[major, minor, patch].map(padded), labels.length === 0 ? "~" : labels.join("!")].join(".");
}

/** Treatment of pre-releases in a range. */
export type RangeOptions = {
  /** Pre-releases match by their order, even if the range does not name them. */
  includesPreReleases?: boolean;
};

/** Returns undefined for invalid ranges, and for more than 256 characters. */
export function parseRange(text: string, options: RangeOptions = {}): Range | undefined {
  const { includesPreReleases = false } = options;
  if (text.length > MAX_RANGE_LENGTH) return undefined;
  try {
    // The library would search the end of a run of blanks from each blank.
    return new Range(text.trim().replace(/\s+/g, " "), { includePrerelease: includesPreReleases });
  } catch {
    return undefined;
  }
}

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
